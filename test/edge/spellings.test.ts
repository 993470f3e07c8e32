/** However a path is written, it reaches the file that it names once decoded, or none: never another one. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { outputFault } from '#providers/paths.ts';
import { corpus } from '#test/paths/corpus.ts';
import { ask, askRaw, createFixture, type Fixture } from './fixture.ts';

const host = 'all.sites.test';
const served = corpus.map(({ path }) => path).filter((path) => !outputFault(path) && !path.includes('\0'));
const decoys = [
  'secret.html',
  'Secret.html',
  'SECRET.HTML',
  'caf\u00e9.html',
  'cafe\u0301.html',
  'deep/secret.html',
  'x.html',
  'x',
];
const paths = [...new Set([...served, ...decoys])];
let fixture: Fixture;
let port: number;
beforeAll(async () => {
  fixture = await createFixture();
  await fixture.publish('all', Object.fromEntries(paths.map((path) => [path, `file ${path}`])));
  ({ port } = await fixture.openEdge());
});
afterAll(() => fixture?.close());

const percent = (byte: number) => `%${byte.toString(16).padStart(2, '0')}`;
const bytes = (path: string) => [...Buffer.from(path)];
const encodeAll = (path: string) =>
  path
    .split('/')
    .map((part) => bytes(part).map(percent).join(''))
    .join('/');
const plainly = (path: string) => path.split('/').map(encodeURIComponent).join('/');
/** A character below 128 in two bytes, as no UTF-8 writes it. */
const overlong = (path: string) =>
  bytes(path)
    .map((byte) => (byte < 128 ? percent(0xc0 | (byte >> 6)) + percent(0x80 | (byte & 63)) : percent(byte)))
    .join('');

/** Ways to write a path: how it is sent. */
const spellings: Record<string, (path: string) => string> = {
  'every byte escaped': encodeAll,
  'escaped in capitals': (path) => encodeAll(path).replaceAll(/%[0-9a-f]{2}/g, (hex) => hex.toUpperCase()),
  'escaped twice': (path) => encodeAll(path).replaceAll('%', '%25'),
  'escaped three times': (path) => encodeAll(path).replaceAll('%', '%2525'),
  'overlong UTF-8': overlong,
  'slashes escaped': (path) => encodeURIComponent(path),
  backslashes: (path) => plainly(path.replaceAll('/', '\\')),
  'composed letters': (path) => plainly(path.normalize('NFC')),
  'decomposed letters': (path) => plainly(path.normalize('NFD')),
  'compatible letters': (path) => plainly(path.normalize('NFKC')),
  'small letters': (path) => plainly(path.toLowerCase()),
  capitals: (path) => plainly(path.toUpperCase()),
  'a dot at the end': (path) => `${plainly(path)}.`,
  'dots and spaces at the end': (path) => `${plainly(path)}.%20.`,
  'a NUL at the end': (path) => `${plainly(path)}%00`,
  'a NUL and another extension': (path) => `${plainly(path)}%00.png`,
  'a stream': (path) => `${plainly(path)}::$DATA`,
  'a folder and back': (path) => `x/../${plainly(path)}`,
  'a folder and back, escaped': (path) => `x/%2e%2e/${plainly(path)}`,
  'this folder': (path) => `./${plainly(path)}`,
  'this folder, escaped': (path) => `%2e/${plainly(path)}`,
  'two slashes': (path) => `/${plainly(path)}`,
  'a parameter': (path) => `${plainly(path)};a=b`,
  'a query': (path) => `${plainly(path)}?../secret.html`,
  'a byte order mark': (path) => `%ef%bb%bf${plainly(path)}`,
  'a joiner': (path) => `${plainly(path)}%e2%80%8d`,
};

/** The file that a target names, by the rules of RFC 3986 alone: decoded once, and not changed in any other way. */
function named(target: string): string | undefined {
  try {
    const [path = ''] = target.split('?', 1);
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

test.each(Object.entries(spellings))('a path with %s returns the file that it names, or none', async (_how, spell) => {
  for (const path of paths) {
    const sent = spell(path);
    if (!/^[\x21-\x7e]*$/.test(sent) || sent.length > 7_000) continue;
    const { status, text, headers } = await ask(port, `/${sent}`, { host });
    const meant = named(sent);
    if (status === 200) {
      const own = [meant, `${meant}.html`, `${meant}/index.html`, `${meant}index.html`].map((one) => `file ${one}`);
      expect(own, sent).toContain(text);
    } else {
      expect([400, 404, 308], sent).toContain(status);
      if (status === 308) expect(new URL(headers.location as string, 'http://a.test').host).toBe('a.test');
    }
  }
});

test('a file has its plain address and the one with every byte escaped', async () => {
  for (const path of decoys)
    for (const sent of [plainly(path), encodeAll(path)])
      expect((await ask(port, `/${sent}`, { host })).text).toBe(`file ${path}`);
});

test('a target in raw bytes is refused', async () => {
  for (const path of ['/caf\xc3\xa9.html', '/\xc1\xb8.html', '/x\x00.html', '/x\x80'])
    expect(await askRaw(port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 400 /,
    );
});
