/** A whole site as one archive. */
import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { outputs } from '#test/headers/generators.ts';
import { type TarEntry, tarOf, type ZipEntry, zipOf } from './archives.ts';
import { createFixture, createSite, errorOf, until } from './fixture.ts';
import { named, sender } from './sending.ts';

const limits = { file_bytes: 2_000_000, site_bytes: 4_000_000, site_files: 20, uploads_per_hour: 1_000 };
const fixture = await createFixture({}, { limits });
afterAll(() => fixture.close());
const owner = await fixture.newCaller();
const stranger = await fixture.newCaller();
const { begin, complete, name } = sender(owner);
const site = await createSite(owner);

const send = (upload: { id: string }, type: string, raw: Buffer, caller = owner) =>
  caller.call('POST', `/v1/deployments/${upload.id}/archive`, {
    raw,
    headers: { 'content-type': type, 'idempotency-key': 'ignored' },
  });
const isEmpty = async ({ id }: { id: string }) =>
  (await fixture.deps.em().execute('select 1 from upload_file where deployment_id = ?', [id])).length === 0;
const front = '<!doctype html><title>Front</title>';

test.each([
  ['application/x-tar', async (files: TarEntry[]) => await tarOf(files)],
  ['application/gzip', async (files: TarEntry[]) => gzipSync(await tarOf(files))],
  ['application/zip', async (files: TarEntry[]) => zipOf(files.map(({ name, content = '' }) => ({ name, content })))],
])('an archive of %s is the whole site, and may come again', async (type, write) => {
  const own = await createSite(owner);
  const upload = await begin(own);
  const big = Buffer.alloc(1_500_000, 'Ein großer Text. ');
  const files = [
    { name: './index.html', content: front },
    { name: 'café/a.txt', content: type },
    { name: 'big.bin', content: Buffer.concat([big, Buffer.from(type)]) },
    { name: '.well-known/security.txt', content: 'Contact: mailto:a@example.com' },
    { name: '.DS_Store', content: 'x' },
    { name: 'a/Thumbs.db', content: 'x' },
    { name: '__MACOSX/._index.html', content: 'x' },
    { name: '_redirects', content: '/old / 301\n' },
  ];
  // The ratio of this text would be that of a bomb.
  if (type !== 'application/x-tar') files.splice(2, 1);
  const sent = await send(upload, type, await write(files));
  expect([sent.status, sent.body.left_out]).toEqual([200, ['.DS_Store', 'a/Thumbs.db', '__MACOSX/._index.html']]);
  expect(sent.body.deployment).toMatchObject({ id: upload.id, status: 'uploading' });
  // The first answer may have been lost.
  const again = await send(upload, type, await write(files));
  const other = await send(upload, type, await write(files.slice(1)));
  expect([again.body.left_out, errorOf(other).code]).toEqual([sent.body.left_out, 'not_accepting_uploads']);
  expect((await complete(upload)).body).toMatchObject({ status: 'live', file_count: files.length - 3 });
  await until(async () => (await fixture.visit(own.name, '/')).text === front);
  expect((await fixture.visit(own.name, '/caf%C3%A9/a.txt')).text).toBe(type);
  expect((await fixture.visit(own.name, '/old')).status).toBe(301);
  expect((await fixture.visit(own.name, '/.well-known/security.txt')).status).toBe(200);
});

test.each(outputs)('the output of $name is accepted as an archive', async ({ files }) => {
  const upload = await begin(await createSite(owner));
  const entries = Object.entries(files).map(([name, content]) => ({ name, content }));
  expect((await send(upload, 'application/gzip', gzipSync(await tarOf(entries)))).body.left_out).toEqual([]);
  expect((await complete(upload)).body).toMatchObject({ status: 'live', file_count: entries.length });
});

const page = { name: 'index.html', content: front };
const link = (type: NonNullable<TarEntry['type']>, linkname = 'index.html'): TarEntry[] => [
  page,
  { name: 'l', type, linkname },
];
const nfd = { name: 'cafe\u0301.txt' };

describe('a hostile tar', () => {
  test.each<[string, TarEntry[], string, string]>([
    ['a symbolic link', link('symlink', '/etc/passwd'), 'invalid_manifest', 'is a link or a device'],
    ['a hard link', link('link'), 'invalid_manifest', 'is a link or a device'],
    ['a character device', link('character-device'), 'invalid_manifest', 'is a link or a device'],
    ['a block device', link('block-device'), 'invalid_manifest', 'is a link or a device'],
    ['a pipe', link('fifo'), 'invalid_manifest', 'is a link or a device'],
    ['a path above', [page, { name: '../a.txt' }], 'invalid_manifest', '".." segment'],
    ['a path above, within', [page, { name: 'a/../../b.txt' }], 'invalid_manifest', '".." segment'],
    ['an absolute path', [page, { name: '/etc/passwd' }], 'invalid_manifest', 'an absolute path'],
    ['a folder above', [page, { name: '../', type: 'directory' }], 'invalid_manifest', '".." segment'],
    ['a backslash', [page, { name: '..\\a.txt' }], 'invalid_manifest', 'backslash'],
    ['a drive', [page, { name: 'C:/a.txt' }], 'invalid_manifest', 'drive letter'],
    ['a control character', [page, { name: 'a\u0007.txt' }], 'invalid_manifest', 'control character'],
    ['a .git folder', [page, { name: 'a/.GIT/config' }], 'invalid_manifest', '.git folder'],
    ['a hidden file', [page, { name: '.env', content: 'KEY=1' }], 'invalid_manifest', 'hidden file'],
    ['a hidden file of the system, above', [page, { name: '../.DS_Store' }], 'invalid_manifest', '".." segment'],
    ['a path twice', [page, page], 'invalid_manifest', 'twice'],
    ['paths that differ in case', [page, { name: 'Index.HTML' }], 'invalid_manifest', 'only in case'],
    ['paths that differ in Unicode', [page, { name: 'caf\u00e9.txt' }, nfd], 'invalid_manifest', 'only in case'],
    ['a picture that is a page', [page, { name: 'a.png', content: front }], 'invalid_file', 'contains HTML'],
    ['a program', [page, { name: 'a.exe' }], 'invalid_manifest', 'executable'],
    ['a large file', [page, { name: 'a.bin', content: Buffer.alloc(2_000_001) }], 'plan_limit', '2000001 bytes'],
    ['too many files', Array.from({ length: 21 }, (_, n) => ({ name: `${n}.txt` })), 'plan_limit', 'number of files'],
    [
      'too many folders',
      Array.from({ length: 41 }, (_, n) => ({ name: `${n}/`, type: 'directory' as const })),
      'plan_limit',
      'more than 40 entries',
    ],
    [
      'too many bytes',
      Array.from({ length: 3 }, (_, n) => ({ name: `${n}.bin`, content: Buffer.alloc(1_900_000, n) })),
      'plan_limit',
      'exceed',
    ],
    ['nothing', [{ name: 'a/', type: 'directory' }], 'invalid_manifest', 'contains no files'],
    ['files of the system alone', [{ name: '.DS_Store' }], 'invalid_manifest', 'contains no files'],
  ])('with %s is refused, and leaves nothing in the manifest', async (_what, entries, code, words) => {
    const upload = await begin(site);
    const answer = await send(upload, 'application/x-tar', await tarOf(entries));
    expect([errorOf(answer).code, errorOf(answer).message]).toEqual([code, expect.stringContaining(words)]);
    expect(await isEmpty(upload)).toBe(true);
  });

  test('that is cut, false or a bomb leaves nothing in the manifest', async () => {
    const whole = await tarOf([page, { name: 'b.txt', content: 'b'.repeat(5_000) }]);
    const lies = Buffer.from(whole);
    lies.write('77777777777\0', 124);
    const zeros = [
      page,
      { name: 'a.bin', content: Buffer.alloc(1_900_000) },
      { name: 'b.bin', content: Buffer.alloc(1_900_000) },
    ];
    const cases: [string, Buffer, string, string][] = [
      ['application/x-tar', whole.subarray(0, 1_000), 'invalid_file', 'not a whole tar'],
      ['application/x-tar', whole.subarray(0, whole.length - 1_024), 'invalid_file', 'ends before its last block'],
      ['application/x-tar', lies, 'invalid_file', 'not a whole tar'],
      ['application/x-tar', Buffer.from('not a tar at all '.repeat(100)), 'invalid_file', 'not a whole tar'],
      ['application/x-tar', Buffer.alloc(0), 'invalid_file', 'The archive'],
      ['application/x-tar', Buffer.alloc(3_000_000), 'invalid_file', 'bytes outside its files'],
      ['application/x-tar', gzipSync(whole), 'invalid_file', 'not a whole tar'],
      ['application/gzip', whole, 'invalid_file', 'not a whole tar in gzip'],
      ['application/gzip', gzipSync(whole).subarray(0, 100), 'invalid_file', 'not a whole tar in gzip'],
      ['application/gzip', gzipSync(await tarOf(zeros)), 'plan_limit', '100 times its size'],
      ['application/gzip', gzipSync(Buffer.alloc(200_000_000)), 'invalid_file', 'bytes outside its files'],
      ['application/zip', whole, 'invalid_file', 'not a whole zip'],
      ['application/x-rar', whole, 'invalid_file', 'has the content-type application/x-rar'],
      ['text/html', whole, 'invalid_file', 'has the content-type text/html'],
    ];
    for (const [type, bytes, code, words] of cases) {
      const upload = await begin(site);
      const answer = await send(upload, type, bytes);
      expect([words, errorOf(answer).code, errorOf(answer).message]).toEqual([
        words,
        code,
        expect.stringContaining(words),
      ]);
      expect(await isEmpty(upload)).toBe(true);
    }
  });
});

describe('a hostile zip', () => {
  const html = { name: 'index.html', content: front };
  const other = { name: 'a.txt', content: 'text' };
  test.each<[string, ZipEntry[], string, string]>([
    ['a symbolic link', [html, { ...other, type: 0o120000 }], 'invalid_manifest', 'is a link or a device'],
    ['a device', [html, { ...other, type: 0o020000 }], 'invalid_manifest', 'is a link or a device'],
    ['a path above', [html, { name: '../a.txt' }], 'invalid_manifest', '".." segment'],
    ['an absolute path', [html, { name: '/a.txt' }], 'invalid_manifest', 'an absolute path'],
    ['a backslash', [html, { name: 'a\\b.txt' }], 'invalid_manifest', 'backslash'],
    ['a NUL', [html, { name: 'a\u0000.txt' }], 'invalid_manifest', 'control character'],
    ['a name of another encoding', [html, { name: Buffer.from([0x61, 0xff]) }], 'invalid_file', 'not UTF-8'],
    ['paths that differ in case', [html, { name: 'INDEX.html' }], 'invalid_manifest', 'only in case'],
    [
      'another name in the list',
      [html, { ...other, local: { name: Buffer.from('b.txt') } }],
      'invalid_file',
      'disagrees',
    ],
    ['another size in the list', [html, { ...other, local: { size: 5 } }], 'invalid_file', 'disagrees'],
    ['another method in the list', [html, { ...other, local: { method: 0 } }], 'invalid_file', 'disagrees'],
    [
      'a size that is too small',
      [html, { ...other, local: { size: 2 }, listed: { size: 2 } }],
      'invalid_file',
      'The archive',
    ],
    [
      'a size that is too large',
      [html, { ...other, local: { size: 9 }, listed: { size: 9 } }],
      'invalid_file',
      'The archive',
    ],
    ['a wrong checksum', [html, { ...other, listed: { crc: 1 } }], 'invalid_file', 'a damaged file'],
    [
      'another method',
      [html, { ...other, local: { method: 12 }, listed: { method: 12 } }],
      'invalid_file',
      'another method',
    ],
    [
      'encryption',
      [html, { ...other, local: { flags: 0x801 }, listed: { flags: 0x801 } }],
      'invalid_file',
      'encrypted',
    ],
    ['a bomb', [html, { name: 'a.bin', content: Buffer.alloc(1_900_000) }], 'plan_limit', '100 times its size'],
    ['a claim of 4 GB', [html, { ...other, listed: { size: 0xfffffff0 } }], 'invalid_file', 'disagrees'],
    [
      'too many entries',
      Array.from({ length: 41 }, (_, n) => ({ name: `${n}.txt` })),
      'plan_limit',
      'more than 40 entries',
    ],
  ])('with %s is refused, and leaves nothing in the manifest', async (_what, entries, code, words) => {
    const upload = await begin(site);
    const answer = await send(upload, 'application/zip', zipOf(entries));
    expect([errorOf(answer).code, errorOf(answer).message]).toEqual([code, expect.stringContaining(words)]);
    expect(await isEmpty(upload)).toBe(true);
  });

  test('that is cut is refused', async () => {
    const whole = zipOf([html, other]);
    for (const bytes of [whole.subarray(0, whole.length - 10), whole.subarray(40), Buffer.alloc(0)]) {
      const answer = await send(await begin(site), 'application/zip', bytes);
      expect(errorOf(answer).code).toBe('invalid_file');
    }
  });
});

test('an archive whose connection breaks leaves nothing, and the next one is accepted', async () => {
  const upload = await begin(site);
  const whole = await tarOf([page, { name: 'b.bin', content: Buffer.alloc(100_000, 'b') }]);
  const url = new URL(`${fixture.url}/v1/deployments/${upload.id}/archive`);
  const headers = {
    authorization: `Bearer ${owner.token}`,
    'content-type': 'application/x-tar',
    'content-length': whole.length,
  };
  const broken = request(url, { method: 'POST', headers });
  const ended = new Promise((resolve) => broken.once('error', resolve));
  broken.write(whole.subarray(0, 50_000), () => setImmediate(() => broken.destroy()));
  await ended;
  const sent = await send(upload, 'application/x-tar', whole);
  expect([sent.status, sent.body.left_out]).toEqual([200, []]);
});

test('an archive needs an open, empty upload of the caller’s own', async () => {
  const upload = await begin(site);
  const tar = await tarOf([page]);
  expect(errorOf(await send(upload, 'application/x-tar', tar, stranger)).code).toBe('not_found');
  await name(upload, named({ 'a.txt': 'a' }));
  expect(errorOf(await send(upload, 'application/x-tar', tar)).code).toBe('not_accepting_uploads');
});
