import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorOf } from '#test/api/fixture.ts';
import * as sample from '#test/git/samples.ts';
import { createMaterial, type Material } from './fixture.ts';
import { openPut } from './slow.ts';

const fileBytesMax = 200_000;
let material: Material;
beforeAll(async () => {
  material = await createMaterial({}, { limits: { file_bytes: fileBytesMax } });
});
afterAll(() => material.close());
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const noise = (bytes: number, seed = 1) => Buffer.alloc(bytes, `seed ${seed} `);

describe('a file', () => {
  test('that is put is a commit by its author, and is read back unchanged', async () => {
    const owner = await material.owner();
    const answer = await material.put(owner, owner.siteId, 'src/assets/Tür & Tor.png', sample.png);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      path: 'src/assets/Tür & Tor.png',
      bytes: sample.png.length,
      content_type: 'image/png',
      sha256: sha256(sample.png),
      source: 'api',
      created_at: expect.stringMatching(/Z$/),
    });
    expect(await material.bytes(owner.siteId, 'src/assets/Tür & Tor.png')).toEqual(sample.png);
    const [line] = await material.log(owner.siteId);
    expect(line).toMatch(/^first <owner\d+@example.com> Add src\/assets\/Tür & Tor.png$/);
    const url = `/v1/sites/${owner.siteId}/assets/src/assets/${encodeURIComponent('Tür & Tor.png')}`;
    const read = await fetch(`${material.url}${url}`, { headers: { authorization: `Bearer ${owner.token}` } });
    expect(Buffer.from(await read.arrayBuffer())).toEqual(sample.png);
  });

  test('is served on our host so that no browser renders it', async () => {
    const owner = await material.owner();
    await material.put(owner, owner.siteId, "src/assets/a'b.svg", sample.svg());
    const { headers } = await owner.call('GET', `/v1/sites/${owner.siteId}/assets/src/assets/a'b.svg`);
    expect(headers.get('content-type')).toBe('image/svg+xml; charset=utf-8');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
    expect(headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''a%27b.svg");
    expect(headers.get('etag')).toBe(`"${sha256(Buffer.from(sample.svg()))}"`);
  });

  test('that is unchanged is not written again, and not counted', async () => {
    const owner = await material.owner();
    const first = await material.put(owner, owner.siteId, 'src/assets/a.gif', sample.gif);
    const commits = (await material.log(owner.siteId)).length;
    const again = await material.put(owner, owner.siteId, 'src/assets/a.gif', sample.gif);
    expect(again.body.sha256).toBe(first.body.sha256);
    expect((await material.log(owner.siteId)).length).toBe(commits);
    expect(await material.usedToday(owner)).toBe(1);
  });

  test('may have a long path and the maximum size; one byte more is plan_limit', async () => {
    const owner = await material.owner();
    const bulk = (bytes: number) => sample.pngOf(1, 1, sample.pngPart('teXt', noise(bytes)));
    const exact = bulk(fileBytesMax - bulk(0).length);
    expect(exact.length).toBe(fileBytesMax);
    const path = `src/assets/${'long/'.repeat(60)}a.png`;
    expect((await material.put(owner, owner.siteId, path, exact)).status).toBe(200);
    const before = await material.objects(owner.siteId);
    const over = await material.put(owner, owner.siteId, 'src/assets/b.png', bulk(fileBytesMax - bulk(0).length + 1));
    expect(over.status).toBe(402);
    expect(errorOf(over).code).toBe('plan_limit');
    expect(await material.objects(owner.siteId)).toEqual(before);
    expect(await material.usedToday(owner)).toBe(1);
  });

  test('outside src/assets/ and public/ is invalid_path, and cannot be read there', async () => {
    const owner = await material.owner();
    const before = await material.objects(owner.siteId);
    for (const path of ['src/pages/index.astro', 'src/content/a.png', 'package.json', 'public', 'src/assets/', 'x']) {
      const answer = await material.put(owner, owner.siteId, path, sample.png);
      expect([path, errorOf(answer).code]).toEqual([path, 'invalid_path']);
    }
    for (const path of ['package.json', 'src/pages/index.astro', 'src/assets/none.png', 'src/assets']) {
      const answer = await owner.call('GET', `/v1/sites/${owner.siteId}/assets/${path}`);
      expect([path, errorOf(answer).code]).toEqual([path, 'not_found']);
    }
    expect(await material.objects(owner.siteId)).toEqual(before);
  });

  test('replaces only the version that the caller has read', async () => {
    const owner = await material.owner();
    const first = await material.put(owner, owner.siteId, 'src/assets/a.png', sample.pngOf(2, 2));
    const match = { 'if-match': `"${first.body.sha256}"` };
    expect((await material.put(owner, owner.siteId, 'src/assets/a.png', sample.pngOf(3, 3), match)).status).toBe(200);
    const late = await material.put(owner, owner.siteId, 'src/assets/a.png', sample.pngOf(4, 4), match);
    expect(errorOf(late)).toMatchObject({ code: 'stale_hash', retryable: false });
    expect(await material.bytes(owner.siteId, 'src/assets/a.png')).toEqual(sample.pngOf(3, 3));
  });

  test('changed by others meanwhile is stale_hash, and theirs stays', async () => {
    const owner = await material.owner();
    const slow = openPut(owner.token, `${material.url}/v1/sites/${owner.siteId}/assets/src/assets/a.png`);
    const mine = sample.pngOf(7, 7);
    await slow.write(mine.subarray(0, 20));
    // The call is on its way once its file is open; a quick one overtakes it.
    await slow.begun();
    expect((await material.put(owner, owner.siteId, 'src/assets/a.png', sample.png)).status).toBe(200);
    const { status, body } = await slow.end(mine.subarray(20));
    expect([status, body.error?.code]).toEqual([409, 'stale_hash']);
    expect(await material.bytes(owner.siteId, 'src/assets/a.png')).toEqual(sample.png);
    expect(await material.usedToday(owner)).toBe(1);
  });

  test('of an archived site is not written, and of a foreign site not found', async () => {
    const [owner, stranger] = [await material.owner(), await material.newCaller()];
    await owner.call('POST', `/v1/sites/${owner.siteId}/archive`);
    const archived = await material.put(owner, owner.siteId, 'src/assets/a.png', sample.png);
    expect(errorOf(archived).code).toBe('site_archived');
    const foreign = await material.put(stranger, owner.siteId, 'src/assets/a.png', sample.png);
    expect(errorOf(foreign).code).toBe('not_found');
    expect(errorOf(await stranger.call('GET', `/v1/sites/${owner.siteId}/assets`)).code).toBe('not_found');
  });

  test('that ends after its token was revoked is not written', async () => {
    const owner = await material.owner();
    const before = await material.objects(owner.siteId);
    const slow = openPut(owner.token, `${material.url}/v1/sites/${owner.siteId}/assets/src/assets/a.png`);
    await slow.write(sample.png.subarray(0, 20));
    await slow.begun();
    await material.deps.em().execute('update token set revoked_at = now() where account_id = ?', [owner.accountId]);
    expect((await slow.end(sample.png.subarray(20))).status).toBe(401);
    expect(await material.objects(owner.siteId)).toEqual(before);
  });

  test('that is interrupted leaves nothing', async () => {
    const owner = await material.owner();
    const before = await material.objects(owner.siteId);
    const slow = openPut(owner.token, `${material.url}/v1/sites/${owner.siteId}/assets/src/assets/a.png`);
    await slow.write(sample.png.subarray(0, 20));
    await slow.begun();
    slow.destroy();
    const answered = () => material.logged.some(({ operation, level }) => operation === 'asset.write' && level >= 30);
    while (!answered()) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(await material.objects(owner.siteId)).toEqual(before);
    expect(await material.usedToday(owner)).toBe(0);
  });
});

test('whose bytes are lost is missing_asset, and the same bytes repair it', async () => {
  const owner = await material.owner();
  await material.put(owner, owner.siteId, 'src/assets/a.png', sample.png);
  const oid = (await material.files(owner.siteId)).get('src/assets/a.png') ?? '';
  const { dir } = material.repositories.place(owner.siteId, 'source');
  await rm(`${dir}/objects/${oid.slice(0, 2)}/${oid.slice(2)}`);
  const read = () => owner.call('GET', `/v1/sites/${owner.siteId}/assets/src/assets/a.png`);
  const answer = await read();
  expect([answer.status, errorOf(answer).code]).toEqual([409, 'missing_asset']);
  expect((await material.put(owner, owner.siteId, 'src/assets/b.png', sample.pngOf(2, 2))).status).toBe(200);
  expect((await material.put(owner, owner.siteId, 'src/assets/a.png', sample.png)).status).toBe(200);
  expect((await read()).status).toBe(200);
});

test('the list has the API’s files, newest first, in pages', async () => {
  const owner = await material.owner();
  for (const n of [1, 2, 3, 4]) await material.put(owner, owner.siteId, `src/assets/${n}.png`, sample.pngOf(n, n));
  const list = async (query = '') => (await owner.call('GET', `/v1/sites/${owner.siteId}/assets${query}`)).body;
  const paths = ({ items }: { items: { path: string }[] }) => items.map(({ path }) => path);
  expect(paths(await list())).toEqual([4, 3, 2, 1].map((n) => `src/assets/${n}.png`));
  const first = await list('?limit=3');
  expect(paths(first)).toHaveLength(3);
  expect(paths(await list(`?limit=3&cursor=${first.next_cursor}`))).toEqual(['src/assets/1.png']);
  const changes = [
    { path: 'src/assets/2.png', delete: true },
    { path: 'src/assets/5.png', base64: sample.png.toString('base64') },
  ];
  await owner.call('POST', `/v1/sites/${owner.siteId}/commits`, { body: { message: 'x', changes } });
  expect(paths(await list())).toEqual([5, 4, 3, 1].map((n) => `src/assets/${n}.png`));
});

test('many concurrent files are all stored, each in its own commit', async () => {
  const owner = await material.owner();
  const before = (await material.log(owner.siteId)).length;
  const names = Array.from({ length: 24 }, (_, n) => `src/assets/${n}.png`);
  const answers = await Promise.all(
    names.map((path, n) => material.put(owner, owner.siteId, path, sample.pngOf(n + 1, 1))),
  );
  expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
  const files = await material.files(owner.siteId);
  expect(names.filter((path) => !files.has(path))).toEqual([]);
  expect((await material.log(owner.siteId)).length).toBe(before + names.length);
});

test('concurrent writes and commits lose nothing', async () => {
  const owner = await material.owner();
  const { repositories } = material;
  const names = Array.from({ length: 8 }, (_, n) => `src/assets/${n}.png`);
  let done = false;
  const theirs: string[] = [];
  /** As another process would: no turn of ours holds it. */
  async function others(): Promise<void> {
    while (!done) {
      const parent = await repositories.head(owner.siteId, 'source');
      const path = `docs/${theirs.length}.md`;
      const author = { name: 'Git', email: 'git@example.com' };
      const changes = [{ path, bytes: Buffer.from('x') }];
      const commit = { parent, message: 'x', author, at: new Date(), changes };
      if (await repositories.commit(owner.siteId, 'source', commit)) theirs.push(path);
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
  }
  const racing = others();
  const answers = await Promise.all(
    names.map((path, n) => material.put(owner, owner.siteId, path, sample.pngOf(n + 1, 2))),
  );
  done = true;
  await racing;
  expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
  const files = await material.files(owner.siteId);
  expect(theirs.length).toBeGreaterThan(0);
  expect([...names, ...theirs].filter((path) => !files.has(path))).toEqual([]);
});
