/** Files that are served unchanged, and others that the rules accept or refuse by their bytes. */
import { expect, test } from 'vitest';
import { checkContent, checkTree, type Rules } from '#git/rules.ts';
import * as sample from '#test/git/samples.ts';

const rules = {
  repository: 'source',
  platform: new Map(),
  limits: { site_files: 100, site_bytes: 1e9, file_bytes: 1e6 },
  lift: () => 'Choose a larger plan.',
} as unknown as Rules;

/** The first refusal of a file, by its name and then by its bytes. */
async function refusalOf(path: string, bytes: Buffer | string, size = 7) {
  const content = Buffer.from(bytes as string);
  const files = [{ path, bytes: content.length, oid: '0'.repeat(40), mode: '100644' }];
  const [refusal] = checkTree(rules, files as never, [{ path, oid: '0'.repeat(40), mode: '100644' }]);
  async function* pieces() {
    for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size);
  }
  return refusal ?? (await checkContent('source', path, pieces()));
}

const u32le = (value: number) => [value & 255, (value >> 8) & 255, (value >> 16) & 255, value >>> 24];
const box = (type: string, content: Buffer) => {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(content.length + 8);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, content]);
};
const icon = (picture: Buffer, offset = 22) =>
  Buffer.concat([
    Buffer.from([0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 32, 0, ...u32le(picture.length), ...u32le(offset)]),
    picture,
  ]);
const film = Buffer.concat([box('ftyp', Buffer.from('isom\0\0\x02\0isomiso2avc1mp41')), box('moov', Buffer.alloc(16))]);
const webm = Buffer.concat([
  Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 0x87, 0x42, 0x82, 0x84]),
  Buffer.from('webm'),
  Buffer.alloc(64),
]);
const mp3 = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x44]), Buffer.alloc(512)]);
/** An AVIF that names the general brand of its container first. */
const generalAvif = Buffer.from(sample.avif);
generalAvif.write('mif1', 8, 'latin1');

test.each([
  ['robots.txt', 'User-agent: *\nAllow: /\n'],
  ['llms.txt', '# Shop\n\nWrite <b>bold</b> words.\n'],
  ['site.webmanifest', '{"name":"Shop"}'],
  ['data/prices.json', '[1, 2]'],
  ['prices.csv', 'bread,3\n'],
  ['opening.ics', 'BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n'],
  ['film.vtt', 'WEBVTT\n'],
  ['favicon.ico', icon(sample.png.length < 40 ? Buffer.alloc(40) : sample.png)],
  ['logo.svg', sample.svg()],
  ['a.png', sample.png],
  ['favicon.ico', sample.png],
  ['a.jpeg', sample.jpg],
  ['a.webp', sample.webp],
  ['a.avif', generalAvif],
  ['a.gif', sample.gif],
  ['a.woff2', sample.woff2],
  ['menu.pdf', sample.pdf],
  ['film.mp4', film],
  ['film.webm', webm],
  ['song.mp3', mp3],
  ['.well-known/security.txt', 'Contact: mailto:a@b.example\n'],
  ['.well-known/apple-app-site-association', '{"applinks":{}}'],
  ['.well-known/matrix/server', '{"m.server":"b.example:443"}'],
  ['café.txt', 'x'],
  ['cafe\u0301.txt', 'x'],
])('src/static/%s is served unchanged', async (name, bytes) => {
  expect(await refusalOf(`src/static/${name}`, bytes)).toBeUndefined();
  expect(await refusalOf(`src/static/${name}`, bytes, 65_536)).toBeUndefined();
});

const page = '<!doctype html><script>alert(1)</script>';

test.each([
  ['a page', 'index.html', page, /does not accept/],
  ['a script', 'x.js', 'alert(1)', /does not accept/],
  ['a module', 'x.mjs', 'alert(1)', /does not accept/],
  ['XML', 'x.xml', '<x/>', /does not accept/],
  ['a page in XHTML', 'x.xhtml', page, /does not accept/],
  ['WebAssembly', 'x.wasm', '\0asm', /does not accept/],
  ['headers', '_headers', '/*\n  x: y\n', /does not accept/],
  ['redirects', '_redirects', '/a /b', /does not accept/],
  ['a hidden file', '.htaccess', 'Deny from all', /does not accept/],
  ['a hidden file of a known folder', '.well-known/.htaccess', 'Deny from all', /does not accept/],
  ['a page of a known folder', '.well-known/x.html', page, /does not accept/],
  ['a page without extension', '.well-known/x', page, /web page/],
  ['a page named .txt', 'a.txt', page, /web page/],
  ['a page behind white space', 'a.txt', `\ufeff \n\t${page}`, /web page/],
  ['a drawing named .txt', 'a.txt', '<svg onload=alert(1)>', /web page/],
  ['a comment of HTML named .csv', 'a.csv', '<!-- x -->', /web page/],
  ['a page named .vtt', 'a.vtt', page, /web page/],
  ['a page named .json', 'a.json', page, /web page/],
  ['JSON that cannot be read', 'a.json', '{', /not valid JSON/],
  ['a calendar that is none', 'a.ics', 'x', /VCALENDAR/],
  ['subtitles that are none', 'a.vtt', 'x', /WEBVTT/],
  ['bytes named .txt', 'a.txt', Buffer.from([0xff, 0xfe, 0x3c]), /not UTF-8/],
  ['text of UTF-16', 'a.txt', Buffer.from(page, 'utf16le'), /not UTF-8/],
  ['a page named .png', 'a.png', page, /not in a known format/],
  ['a script in an SVG', 'a.svg', sample.svg('<script>alert(1)</script>'), /<script> element/],
  ['a handler in an SVG', 'a.svg', '<svg xmlns="http://www.w3.org/2000/svg" onload="x()"/>', /event handler/],
  ['a PNG with a page behind it', 'a.png', Buffer.concat([sample.png, Buffer.from(page)]), /another file/],
  ['a page behind a PNG named .ico', 'a.ico', Buffer.concat([sample.png, Buffer.from(page)]), /another file/],
  ['a PNG named .jpg', 'a.jpg', sample.png, /PNG format/],
  ['a JPEG named .ico', 'a.ico', sample.jpg, /JPG format/],
  ['a PDF named .png', 'a.png', sample.pdf, /PDF format/],
  ['a picture named .mp4', 'a.mp4', sample.png, /PNG format/],
  ['an icon with a page behind it', 'a.ico', Buffer.concat([icon(sample.png), Buffer.from(page)]), /./],
  ['an icon of pages', 'a.ico', icon(Buffer.from(page.padEnd(60))), /not a complete ICO|web page/],
  ['an icon that points elsewhere', 'a.ico', icon(sample.png, 4_000_000), /not a complete ICO/],
  ['a cut icon', 'a.ico', icon(sample.png).subarray(0, 20), /./],
  ['a film with a page behind it', 'a.mp4', Buffer.concat([film, Buffer.from(page)]), /./],
  ['a film with a page in it', 'a.mp4', Buffer.concat([film, box('free', Buffer.from(page))]), /web page or script/],
  ['a film without an index', 'a.mp4', film.subarray(0, film.length - 24), /not a complete MP4/],
  ['a cut film', 'a.mp4', film.subarray(0, film.length - 4), /truncated/],
  ['a song with a page in it', 'a.mp3', Buffer.concat([mp3, Buffer.from(page)]), /web page or script/],
  ['a Matroska film named .webm', 'a.webm', Buffer.from(String(webm).replace('webm', 'matr'), 'latin1'), /./],
  ['a PDF that runs a script', 'a.pdf', '%PDF-1.7\n/JavaScript\n%%EOF', /action that runs/],
  ['a file that is too large', 'a.txt', 'x'.repeat(1_000_001), /size limit/],
  ['a way out', '../pages/x.png', sample.png, /".."/],
  ['a backslash', '..\\x.png', sample.png, /backslash/],
  ['a zero', 'a\0.png', sample.png, /control character/],
  ['a proof for a domain', '.well-known/acme-challenge/x', 'x', /platform itself answers/],
  ['a proof in capitals', '.Well-Known/ACME-challenge/x.txt', 'x', /platform itself answers/],
  ['a pointer of Git LFS', 'a.png', 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n', /Git LFS/],
])('%s is refused in src/static/', async (_what, name, bytes, words) => {
  const refusal = await refusalOf(`src/static/${name}`, bytes);
  expect(refusal?.what).toMatch(words);
  expect(refusal?.remedy).toMatch(/\.$/);
});

test.each(['SRC/Static/x.html', 'src/STATIC/x.js', 'src/static./x.html'])(
  '%s is refused, because some systems take its folder for src/static/',
  async (path) => expect((await refusalOf(path, page))?.what).toMatch(/does not accept/),
);

test('public/ still takes PDF only, and its refusal names src/static/', async () => {
  expect(await refusalOf('public/a.pdf', sample.pdf)).toBeUndefined();
  for (const name of ['favicon.ico', 'robots.txt', 'a/b.png', '.well-known/security.txt'])
    expect((await refusalOf(`public/${name}`, 'x'))?.remedy).toContain('src/static/');
  expect((await refusalOf('public/x.html', page))?.remedy).not.toContain('src/static/');
});

test.each([
  ['a style sheet', 'site.css', 'p { color: red }'],
  ['Sass', 'site.scss', '$a: 1;'],
  ['an icon', 'favicon.ico', icon(sample.png)],
  ['an AVIF of a general brand', 'a.avif', generalAvif],
  ['a JPEG with a line behind it', 'a.jpg', Buffer.concat([sample.jpg, Buffer.from('\n')])],
  [
    'a JPEG with a record of an agency',
    'a.jpg',
    Buffer.concat([sample.jpg, Buffer.from([0, 1, 2, 3]), Buffer.from('caption')]),
  ],
])('src/assets/ takes %s', async (_what, name, bytes) => {
  expect(await refusalOf(`src/assets/${name}`, bytes)).toBeUndefined();
});

const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n';
test.each(['src/assets/a.png', 'src/media/film.mp4', 'public/a.pdf', 'docs/plan.zip'])(
  'a pointer of Git LFS is named as one: %s',
  async (path) => expect((await refusalOf(path, pointer))?.what).toContain('Git LFS pointer'),
);

test('a PNG named as an icon is refused where a build reads it', async () => {
  expect((await refusalOf('src/assets/favicon.ico', sample.png))?.what).toMatch(/PNG format/);
});

test('a HEIC that also claims to be an AVIF is refused', async () => {
  const both = Buffer.from(generalAvif);
  both.write('heic', 16, 'latin1');
  expect((await refusalOf('src/assets/a.avif', both))?.what).toMatch(/HEIC/);
});
