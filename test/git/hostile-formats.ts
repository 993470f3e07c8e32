/** Files of formats that their place does not take, under wrong and under right names. */
import type { Repository } from '#rules/states.ts';
import type { ErrorCode } from '#runtime/errors.ts';
import type { HostilePush } from './hostile.ts';
import * as sample from './samples.ts';

const format = (
  path: string,
  bytes: string | Buffer,
  says: RegExp,
  code: ErrorCode = 'format_not_allowed',
  repository: Repository = 'source',
): HostilePush => ({ brings: `${path} (${describe(bytes)})`, repository, files: [{ path, bytes }], says, code });
const content = (path: string, bytes: string | Buffer, says: RegExp, code?: ErrorCode) =>
  format(path, bytes, says, code, 'content');
const drawing = (what: string, inside: string, says: RegExp, root = ''): HostilePush => ({
  ...format('src/assets/a.svg', sample.svg(inside, root), says),
  brings: `an SVG with ${what}`,
});

function describe(bytes: string | Buffer): string {
  return JSON.stringify(
    Buffer.from(bytes as string)
      .toString('latin1')
      .slice(0, 10),
  );
}

export const hostileFormats: HostilePush[] = [
  ...[
    'a.exe',
    'a.html',
    'a.svg',
    'a.ts',
    'a.js',
    'noextension',
    '.md',
    'posts/.gitignore',
    'a.md.html',
    'a.pdf',
    'a.tiff',
  ].map((path) => content(path, 'x', /the content repository does not accept/)),
  content('a.jpg', sample.html, /its contents are not in a known format/),
  content('a.png', sample.exe, /in EXE format/),
  content('a.avif', sample.heic, /in HEIC format/),
  content('a.webp', sample.wav, /in WAV format/),
  content('a.gif', sample.jpg, /in JPG format/, 'invalid_file'),
  content('a.jpeg', sample.png, /in PNG format/, 'invalid_file'),
  content('a.md', sample.png, /in PNG format/, 'invalid_file'),
  content('b.md', sample.exe, /not UTF-8 text/),
  content('c.md', Buffer.from([0x61, 0xff]), /not UTF-8 text/),
  content('a.json', Buffer.from('\ufeff{"a":1}', 'utf16le'), /not UTF-8 text/),
  content('a.csv', 'a\0b', /not UTF-8 text/),
  ...['a.js', 'a.less', 'a.html', 'a.ts', 'a', 'a.pdf', 'a.mp4', 'a.svgz'].map((name) =>
    format(`src/assets/${name}`, 'x', /src\/assets\/ does not accept/),
  ),
  format('SRC/Assets/a.js', 'x', /does not accept/),
  format('src/assets/a.png', sample.html, /not in a known format/),
  format('src/assets/a.jpg', sample.pdf, /in PDF format/),
  format('src/assets/a.woff2', sample.zip, /in ZIP format/),
  format('src/assets/a.ttf', sample.woff, /in WOFF format/, 'invalid_file'),
  format('src/assets/a.avif', '', /not in a known format/),
  format('src/assets/a.svg', sample.html, /DOCTYPE|not well-formed/),
  format('src/assets/a.svg', sample.png, /in PNG format/, 'invalid_file'),
  format('src/assets/a.svg', '<svg><path></svg>', /not well-formed/),
  format('src/assets/a.svg', '<html xmlns="http://www.w3.org/1999/xhtml"/>', /HTML element/),
  drawing('a script', '<script>alert(1)</script>', /<script> element/),
  drawing('a script in another case', '<SCRIPT href="a.js"/>', /<SCRIPT> element/),
  drawing(
    'a script behind a prefix',
    '<x:script xmlns:x="http://www.w3.org/2000/svg">1</x:script>',
    /<x:script> element/,
  ),
  drawing('an event handler', '', /event handler onload/, ' onload="alert(1)"'),
  drawing('an event handler in another case', '<path OnClick="alert(1)"/>', /event handler OnClick/),
  drawing('a script address', '<a xlink:href="java&#10;script:alert(1)"><path/></a>', /script URL in xlink:href/),
  drawing('a document in an address', '<use href="data:image/svg+xml;base64,PHN2Zy8+"/>', /document in href/),
  drawing('an animated address', '<set attributeName="href" to="x"/>', /animates the attribute href/),
  drawing(
    'HTML inside',
    '<foreignObject><video xmlns="http://www.w3.org/1999/xhtml"/></foreignObject>',
    /<video> element/,
  ),
  format('src/assets/a.svg', `<!DOCTYPE svg [<!ENTITY a "b">]>${sample.svg()}`, /DOCTYPE/),
  format('src/assets/a.svg', `<?xml-stylesheet href="a.xsl"?>${sample.svg()}`, /xml-stylesheet/),
  ...['index.html', 'a.svg', 'robots.txt', 'a.js', 'favicon.ico', 'a.png', 'sub/a.wasm', 'a.pdf.html'].map((name) =>
    format(`public/${name}`, 'x', /public\/ does not accept/),
  ),
  format('Public/a.html', 'x', /public\/ does not accept/),
  format('public/a.pdf', sample.html, /not in a known format/),
  format('public/a.pdf', sample.zip, /in ZIP format/),
];
