/** Which SVG files are images, and which could execute something as SVG or as HTML. */
import { expect, test } from 'vitest';
import { svgFault } from '#git/rules/svg.ts';
import { svg } from '#test/git/samples.ts';

const faultOf = (text: string | Buffer, chunkBytes = 1_000_000) => {
  const bytes = Buffer.from(text);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  }
  return svgFault(chunks());
};
const html = (inside: string, root = '') =>
  svg(
    `<foreignObject width="9" height="9"><div xmlns="http://www.w3.org/1999/xhtml"${root}>${inside}</div></foreignObject>`,
  );
const svg11 = '"-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd"';

test.each([
  ['a style that HTML ends early', svg('<desc><style><!-- </style><script>alert(1)</script> --></style></desc>')],
  ['a comment with markup', svg('<!-- <script>alert(1)</script> -->')],
  ['a CDATA section with markup', svg('<style><![CDATA[ </style><img src="x"> ]]></style>')],
  ['another encoding', `<?xml version="1.0" encoding="Shift_JIS"?>${svg()}`],
  ['an encoding of two bytes', `<?xml version="1.0" encoding='UTF-16'?>${svg()}`],
  ['UTF-7', `<?xml version="1.0" encoding="utf-7"?>${svg('<text>+ADw-script+AD4-</text>')}`],
  ['bytes that are no UTF-8', Buffer.concat([Buffer.from(svg('<text>').slice(0, -6)), Buffer.from([0x81, 0x5c])])],
  ['an internal subset', `<!DOCTYPE svg [<!ENTITY a "b">]>${svg()}`],
  ['an internal subset beside a public id', `<!DOCTYPE svg PUBLIC ${svg11} [<!ENTITY a "b">]>${svg()}`],
  ['a document type of a local file', `<!DOCTYPE svg SYSTEM "file:///etc/passwd">${svg()}`],
  ['a document type of HTML', `<!DOCTYPE html>${svg()}`],
  ['a frame in a foreignObject', html('<iframe src="#a"></iframe>')],
  ['a form in a foreignObject', html('<form action="#a"></form>')],
  ['an image in a foreignObject', html('<img src="#a"/>')],
  ['a script in a foreignObject', html('<script>alert(1)</script>')],
  ['a style element in a foreignObject', html('<style>a{}</style>')],
  ['a link in a foreignObject', html('<a href="https://evil.example/">x</a>')],
  ['an event handler in a foreignObject', html('x', ' onclick="alert(1)"')],
  ['a style that loads in a foreignObject', html('x', ' style="background:url(https://evil.example/x)"')],
  ['an escaped style in a foreignObject', html('x', ' style="background:u\\72l(//evil.example)"')],
  ['an SVG in a foreignObject', html('<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>')],
  ['HTML beside a foreignObject', svg('<foreignObject/><p xmlns="http://www.w3.org/1999/xhtml">x</p>')],
  ['an element without namespace in a foreignObject', svg('<foreignObject><div>x</div></foreignObject>')],
])('an SVG with %s is refused', async (_what, text) => {
  expect(await faultOf(text)).toBeDefined();
  expect(await faultOf(text, 7)).toBeDefined();
});

test.each([
  ['a document type without internal subset', `<!DOCTYPE svg>${svg()}`],
  [
    'the document type of SVG 1.1',
    `<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n<!DOCTYPE svg PUBLIC ${svg11}>\n${svg()}`,
  ],
  ['an encoding in lower case', `<?xml version="1.0" encoding="utf-8"?>${svg()}`],
  ['a mark of byte order', `\ufeff${svg()}`],
  [
    'a comment and a CDATA style',
    svg('<!-- Generator: Drawing 1.0 --><style><![CDATA[ a > b { fill: url(#c) } ]]></style>'),
  ],
  [
    'formatted text in a foreignObject',
    html('<p class="a">Two<br/><b>words</b></p>', ' style="color:#333;fill:url(#a)"'),
  ],
  ['shapes after a foreignObject', html('x').replace('</svg>', '<path d="M0 0"/></svg>')],
])('an SVG with %s is an image', async (_what, text) => {
  expect(await faultOf(text)).toBeUndefined();
  expect(await faultOf(text, 7)).toBeUndefined();
});

test('drawings that take the parser long are refused in time, large ones are not', async () => {
  const deep = svg('<g>'.repeat(200_000) + '</g>'.repeat(200_000));
  expect(await faultOf(deep)).toMatchObject({ kind: 'broken', what: 'have elements more than 512 deep' });
  const attributes = Array.from({ length: 200_000 }, (_, at) => `a${at}="1"`).join(' ');
  expect((await faultOf(svg(`<g ${attributes}/>`)))?.what).toBe('have an element with more than 1000 attributes');
  expect(await faultOf(svg('<g><a/><b></b></g>'.repeat(2_000)))).toBeUndefined();
});
