import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { limitsIn } from '#test/api/fixture.ts';
import { createFixture, createSite, errorOf, sha256 } from './fixture.ts';
import { goodPng, hostileFiles } from './hostile-files.ts';
import { goodPaths, hostilePaths } from './hostile-paths.ts';
import { isStored, named, sender } from './sending.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());
const owner = await fixture.newCaller();
const { begin, name, send, complete, publish } = sender(owner);
const refusal = (answer: Parameters<typeof errorOf>[0]) => [answer.status, errorOf(answer).code];
const file = (path: string, content = path, bytes = Buffer.byteLength(content)) => ({
  path,
  sha256: sha256(content),
  bytes,
});
const newUpload = async () => await begin(await createSite(owner));
const namedFiles = async (id: string) => (await owner.call('GET', `/v1/deployments/${id}`)).body.missing;

test('500 hostile paths and files are refused: none is named, stored or served', async () => {
  expect(hostilePaths.length + hostileFiles.length).toBeGreaterThanOrEqual(500);
  const site = await createSite(owner);
  const upload = await begin(site);
  for (const path of hostilePaths) {
    const content = `what stands at ${path}`;
    // As text: half a surrogate pair does not leave a program as UTF-8.
    const raw = JSON.stringify({ files: [file('good.html', content), { ...file('x', content), path }] });
    const answer = await owner.call('POST', `/v1/deployments/${upload.id}/manifest`, { raw });
    const allowed =
      path.isWellFormed() && !path.includes('\0') ? ['invalid_path', 'invalid_manifest'] : ['invalid_json'];
    expect([JSON.stringify(path), answer.status, allowed.includes(errorOf(answer).code)]).toEqual([
      JSON.stringify(path),
      400,
      true,
    ]);
  }
  expect(await namedFiles(upload.id)).toEqual([]);

  expect((await name(upload, named(Object.fromEntries(hostileFiles)))).status).toBe(200);
  for (const [path, content] of hostileFiles) {
    const answer = await send(upload, sha256(content), content);
    expect([path, ...refusal(answer)]).toEqual([path, 400, 'invalid_file']);
    expect([path, await isStored(fixture, content)]).toEqual([path, false]);
  }
  expect(refusal(await complete(upload))).toEqual([409, 'upload_incomplete']);
  expect(await readdir(join(fixture.config.storeDir as string, 'tmp'))).toEqual([]);
  expect((await fixture.visit(site.name, '/')).status).toBe(404);
}, 120_000);

test('bytes under several names are refused if one name’s type does not match', async () => {
  const upload = await newUpload();
  const drawing = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
  const names = Array.from({ length: 60 }, (_, n) => `a/${n}.${n % 2 ? 'txt' : `kind${n}`}`);
  await name(
    upload,
    [...names, 'z/drawing.svg'].map((path) => file(path, drawing)),
  );
  const answer = await send(upload, sha256(drawing), drawing);
  expect(refusal(answer)).toEqual([400, 'invalid_file']);
  expect(errorOf(answer).message).toContain('z/drawing.svg');
  expect(await isStored(fixture, drawing)).toBe(false);
});

test('a name like a JavaScript keyword or property is validated as any other', async () => {
  const content = 'no format';
  const upload = await newUpload();
  await name(upload, [file('a.constructor', content), file('b.__proto__', content), file('c.toString', content)]);
  expect((await send(upload, sha256(content), content)).status).toBe(200);
});

test('usual names and files are accepted', async () => {
  const site = await createSite(owner);
  const texts = Object.fromEntries(
    goodPaths.filter((path) => !/\.(png|gz)$|^_redirects$/.test(path)).map((path) => [path, `at ${path}`]),
  );
  const live = await publish(site, {
    ...texts,
    'a.png': goodPng,
    "it's [ok] @2x+$&,;=!.png": goodPng,
    'data.json.gz': Buffer.from('1f8b08', 'hex'),
    'a.svg': '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>',
  });
  expect(live.status).toBe('live');
  expect((await fixture.visit(site.name, '/caf%C3%A9/men%C3%BC.html')).text).toBe('at café/menü.html');
  expect((await fixture.visit(site.name, '/a%20b/100%25%20(true)')).text).toBe('at a b/100% (true).html');
  expect((await fixture.visit(site.name, '/.well-known/security.txt')).status).toBe(200);
});

test.each([
  ['no file', []],
  ['a path twice', [file('a'), file('a', 'other')]],
  ['a path twice with the same bytes', [file('a'), file('a')]],
  ['one hash with two lengths', [file('a', 'x', 1), file('b', 'x', 2)]],
  ['a hidden file', [file('.env')]],
  ['over 5,000 files', Array.from({ length: 5_001 }, (_, n) => ({ path: `${n}`, sha256: '0'.repeat(64), bytes: 1 }))],
  ['a hash in capitals', [{ ...file('a'), sha256: sha256('a').toUpperCase() }]],
  ['an invalid hash', [{ ...file('a'), sha256: 'abc' }]],
  ['a negative length', [{ ...file('a'), bytes: -1 }]],
  ['a fractional length', [{ ...file('a'), bytes: 1.5 }]],
  ['a file without a path', [{ sha256: sha256('a'), bytes: 1 }]],
  ['files that are not a list', { a: 1 }],
])('a manifest with %s is invalid_manifest, and nothing of it is stored', async (_what, files) => {
  const upload = await newUpload();
  expect(refusal(await name(upload, files))).toEqual([400, 'invalid_manifest']);
  expect(await namedFiles(upload.id)).toEqual([]);
});

test('a repeated path is invalid_manifest, and so is completion without a manifest', async () => {
  const upload = await newUpload();
  expect(refusal(await complete(upload))).toEqual([400, 'invalid_manifest']);
  await name(upload, [file('a'), file('b')]);
  const again = await name(upload, [file('c'), file('a', 'other')]);
  expect(refusal(again)).toEqual([400, 'invalid_manifest']);
  expect(errorOf(again).message).toBe('The manifest contains a twice.');
  expect(refusal(await name(upload, [file('d', 'a', 7)]))).toEqual([400, 'invalid_manifest']);
  expect(await namedFiles(upload.id)).toHaveLength(2);
});

test('of concurrent calls that name one path, one is accepted', async () => {
  const upload = await newUpload();
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, n) => name(upload, [file('same', `${n}`), file(`own${n}`)])),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400, 400]);
  expect(await namedFiles(upload.id)).toHaveLength(2);
});

test('a length that differs from the stored bytes is invalid_manifest', async () => {
  const site = await createSite(owner);
  await publish(site, { 'index.html': 'held' });
  expect(refusal(await name(await begin(site), [file('a', 'held', 5)]))).toEqual([400, 'invalid_manifest']);
});

test('files and bytes over the plan are plan_limit, over all parts together', async () => {
  const upload = await newUpload();
  const { file_bytes, site_bytes, site_files } = limitsIn(fixture.config);
  const big = (n: number, bytes: number) => ({ path: `big/${n}`, sha256: sha256(`big ${n}`), bytes });
  expect(refusal(await name(upload, [big(0, file_bytes + 1)]))).toEqual([402, 'plan_limit']);
  const fits = Math.floor(site_bytes / file_bytes);
  expect(
    (
      await name(
        upload,
        Array.from({ length: fits }, (_, n) => big(n, file_bytes)),
      )
    ).status,
  ).toBe(200);
  expect(refusal(await name(upload, [big(fits, file_bytes)]))).toEqual([402, 'plan_limit']);
  for (let part = 0; part < 4; part++) {
    const files = Array.from({ length: 5_000 }, (_, n) => ({ path: `${part}/${n}`, sha256: sha256('x'), bytes: 1 }));
    expect((await name(upload, files)).status).toBe(200);
  }
  const rest = Array.from({ length: site_files - 20_000 - fits + 1 }, (_, n) => ({
    path: `rest/${n}`,
    sha256: sha256('x'),
    bytes: 1,
  }));
  expect(refusal(await name(upload, rest))).toEqual([402, 'plan_limit']);
  expect((await name(upload, rest.slice(1))).status).toBe(200);
}, 60_000);

test('wrong bytes are hash_mismatch, and a wrong length is size_mismatch', async () => {
  const upload = await newUpload();
  const content = 'the very bytes';
  const long = 'y'.repeat(3 * 1024 * 1024);
  await name(upload, [file('a.txt', content), file('b.txt', long), file('short.txt', 'z', 100)]);
  const wrong = content.replace('very', 'VERY');
  expect(refusal(await send(upload, sha256(content), wrong))).toEqual([400, 'hash_mismatch']);
  expect(await isStored(fixture, wrong)).toBe(false);
  for (const body of [content.slice(1), `${content}!`, '', 'x'.repeat(5 * 1024 * 1024)]) {
    expect(refusal(await send(upload, sha256(content), body))).toEqual([400, 'size_mismatch']);
    if (body) expect(await isStored(fixture, body)).toBe(false);
  }
  expect(refusal(await send(upload, sha256('z'), 'z'))).toEqual([400, 'size_mismatch']);
  expect(refusal(await send(upload, sha256(long), `${long.slice(1)}x`))).toEqual([400, 'hash_mismatch']);
  expect(await namedFiles(upload.id)).toHaveLength(3);
  expect((await send(upload, sha256(long), long)).status).toBe(200);
});

test('an unnamed hash is not_found, and a malformed one invalid_input', async () => {
  const upload = await newUpload();
  expect(refusal(await send(upload, sha256('nobody'), 'nobody'))).toEqual([404, 'not_found']);
  expect(refusal(await send(upload, 'abc', 'abc'))).toEqual([400, 'invalid_input']);
  expect(refusal(await send(upload, '..%2f..%2fetc', 'abc'))).toEqual([400, 'invalid_input']);
  expect(await isStored(fixture, 'nobody')).toBe(false);
});

test('a body over the file limit is plan_limit before it is read', async () => {
  const upload = await newUpload();
  await name(upload, [file('a')]);
  const { port } = new URL(fixture.url);
  const { connect } = await import('node:net');
  const { text } = await import('node:stream/consumers');
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(
    `PUT /v1/deployments/${upload.id}/files/${sha256('a')} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${owner.token}\r\ncontent-length: 99999999999\r\n\r\n`,
  );
  const answer = await text(socket);
  expect(answer).toMatch(/^HTTP\/1\.1 402 /);
  expect(answer).toContain('plan_limit');
});

test('a disconnected upload leaves nothing, and may be repeated', async () => {
  const upload = await newUpload();
  const content = 'w'.repeat(400_000);
  await name(upload, [file('a.bin', content)]);
  const { connect } = await import('node:net');
  const socket = connect(Number(new URL(fixture.url).port), '127.0.0.1');
  socket.write(
    `PUT /v1/deployments/${upload.id}/files/${sha256(content)} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${owner.token}\r\ncontent-length: ${content.length}\r\n\r\n`,
  );
  socket.write(content.slice(0, 200_000));
  const halves = async () => (await readdir(join(fixture.config.storeDir as string, 'tmp')).catch(() => [])).length;
  await expect.poll(halves, { interval: 5 }).toBe(1);
  socket.destroy();
  await expect.poll(halves, { interval: 5 }).toBe(0);
  expect(await isStored(fixture, content)).toBe(false);
  expect((await send(upload, sha256(content), content)).status).toBe(200);
});

test('with uploads disabled the calls are uploads_disabled before validation', async () => {
  const off = await (await import('#test/api/fixture.ts')).createFixture({ FRONTAGE_FILES: 'off' });
  try {
    const caller = await off.newCaller();
    const calls = [
      ['POST', '/v1/sites/x/deployments'],
      ['POST', '/v1/deployments/x/manifest'],
      ['PUT', `/v1/deployments/x/files/${sha256('')}`],
      ['POST', '/v1/deployments/x/complete'],
    ] as const;
    for (const [method, path] of calls)
      expect(refusal(await caller.call(method, path, { raw: '{' }))).toEqual([503, 'uploads_disabled']);
  } finally {
    await off.close();
  }
});
