import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { scenes } from '#providers/photos/offline.ts';
import { readConfig } from '#runtime/config.ts';
import { errorOf } from '#test/api/fixture.ts';
import * as sample from '#test/git/samples.ts';
import { createMaterial, type Material } from './fixture.ts';
import { startLibrary, words } from './library.ts';

let library: Awaited<ReturnType<typeof startLibrary>>;
let material: Material;
let owner: Awaited<ReturnType<Material['owner']>>;
beforeAll(async () => {
  library = await startLibrary();
  material = await createMaterial(library.env);
  owner = await material.owner();
});
afterAll(async () => {
  await material.close();
  await library.close();
});
beforeEach(() => library.fail('none'));

const hour = 3_600_000;
let queries = 0;
const newQuery = () => `bread ${++queries}`;
const search = (query: string) => owner.call('POST', '/v1/photos/search', { body: { query } });
const place = (photo_id: string, path: string, headers = {}) =>
  owner.call('POST', `/v1/sites/${owner.siteId}/photos`, { body: { photo_id, path }, headers });

describe('a search', () => {
  test('returns photos with ids, pictures and credits, without naming the library', async () => {
    const { status, body, text } = await search('Bread   on a board');
    expect(status).toBe(200);
    expect(body.items).toHaveLength(2);
    expect(body.items[0]).toEqual({
      id: expect.stringMatching(/^photo_/),
      description: 'Bread on a board',
      width: 6000,
      height: 4000,
      thumb_url: `${material.config.baseUrl}/photos/${body.items[0].id}/thumb`,
      credit: { name: 'Ann Author 101' },
    });
    expect(text).not.toMatch(/pexels|127\.0\.0\.1|files/i);
    expect(library.searches.at(-1)).toEqual({ query: 'bread on a board', key: 'the key of the tests' });
  });

  test('queries the library once a day for the same words', async () => {
    const query = newQuery();
    const first = await search(query);
    const asked = library.searches.length;
    const other = await material.newCaller();
    const again = await other.call('POST', '/v1/photos/search', { body: { query: `  ${query.toUpperCase()} ` } });
    expect(again.body).toEqual(first.body);
    expect(library.searches.length).toBe(asked);
    material.skip(25 * hour);
    expect((await search(query)).body).toEqual(first.body);
    expect(library.searches.length).toBe(asked + 1);
  });

  test.each([
    ['missing', {}],
    ['empty', { query: '' }],
    ['blank', { query: ' \t ' }],
    ['no text', { query: 7 }],
    ['too long', { query: 'x'.repeat(201) }],
  ])('whose query is %s is invalid_query', async (_what, body) => {
    const answer = await owner.call('POST', '/v1/photos/search', { body });
    expect([answer.status, errorOf(answer).code]).toEqual([400, 'invalid_query']);
  });

  test.each([
    ['busy', 'photos_busy', true],
    ['down', 'provider_error', true],
    ['silent', 'provider_error', true],
    ['babbles', 'provider_error', true],
    ['refuses', 'provider_error', false],
  ] as const)('in library state %s is %s, in our words, and not cached', async (how, code, retryable) => {
    const query = newQuery();
    library.fail(how);
    const answer = await search(query);
    expect(errorOf(answer)).toMatchObject({ code, retryable });
    expect(answer.text).not.toMatch(/pexels|api_key|stack|127\.0/i);
    expect(JSON.stringify(material.logged)).not.toContain(words);
    if (code === 'photos_busy') expect(answer.headers.get('retry-after')).toBe('60');
    library.fail('none');
    expect((await search(query)).status).toBe(200);
  });

  test('queries the library at most 200 times an hour in total', async () => {
    material.skip(3 * hour);
    const other = await material.newCaller();
    const before = library.searches.length;
    const most = Array.from({ length: 190 }, newQuery);
    for (const query of most) await material.deps.em().transactional((tx) => fill(tx, query));
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        [owner, other][n % 2]?.call('POST', '/v1/photos/search', { body: { query: newQuery() } }),
      ),
    );
    expect(answers.filter((answer) => answer?.status === 200)).toHaveLength(10);
    expect(answers.filter((answer) => answer?.body.error?.code === 'photos_busy')).toHaveLength(20);
    expect(library.searches.length).toBe(before + 10);
    material.skip(hour / 2);
    expect(errorOf(await search(newQuery())).code).toBe('photos_busy');
    material.skip(hour / 2 + 60_000);
    expect((await search(newQuery())).status).toBe(200);
  });

  /** As many searches as were made earlier in this hour, without making them. */
  async function fill(tx: ReturnType<typeof material.deps.em>, _query: string): Promise<void> {
    const minute = new Date(Math.floor(material.clock.now().getTime() / 60_000) * 60_000);
    await tx.execute(
      `insert into library_request as known (library, minute, requests) values ('pexels', ?, 1)
       on conflict (library, minute) do update set requests = known.requests + 1`,
      [minute],
    );
  }
});

describe('a photo', () => {
  let id: string;
  beforeAll(async () => {
    library.fail('none');
    material.skip(3 * hour);
    id = (await search(newQuery())).body.items[0].id;
  });

  test('is added to the site with its credit, in one commit of the caller’s', async () => {
    const commits = (await material.log(owner.siteId)).length;
    const answer = await place(id, 'src/assets/hero.jpg');
    const credit = {
      author: 'Ann Author 101',
      author_url: 'https://www.pexels.com/@ann',
      source_url: 'https://www.pexels.com/photo/101/',
      description: 'Bread on a board',
    };
    expect(answer.body).toMatchObject({
      ...{ path: 'src/assets/hero.jpg', content_type: 'image/jpeg', source: 'photo', credit },
      credit_path: 'src/assets/hero.jpg.credit.json',
    });
    expect(await material.bytes(owner.siteId, 'src/assets/hero.jpg')).toEqual(sample.jpgOf(1600, 900));
    expect(JSON.parse(String(await material.bytes(owner.siteId, 'src/assets/hero.jpg.credit.json')))).toEqual(credit);
    const log = await material.log(owner.siteId);
    expect(log).toHaveLength(commits + 1);
    expect(log[0]).toMatch(/^first <.*> Add src\/assets\/hero.jpg, a photo by Ann Author 101$/);
    const { items } = (await owner.call('GET', `/v1/sites/${owner.siteId}/assets`)).body;
    expect(items.map(({ path }: { path: string }) => path)).toEqual(['src/assets/hero.jpg']);
  });

  test('counts as one file of the day, and none if the library fails', async () => {
    const before = await material.usedToday(owner);
    await place(id, 'src/assets/one.jpg');
    expect(await material.usedToday(owner)).toBe(before + 1);
    for (const how of ['down', 'breaks'] as const) {
      library.fail(how);
      const answer = await place(id, 'src/assets/two.jpg');
      expect([answer.status, errorOf(answer).code, errorOf(answer).retryable]).toEqual([502, 'provider_error', true]);
    }
    expect(await material.usedToday(owner)).toBe(before + 1);
  });

  test('repeated under one key is added once', async () => {
    const key = { 'idempotency-key': 'photo-once' };
    const first = await place(id, 'src/assets/once.jpg', key);
    const commits = (await material.log(owner.siteId)).length;
    expect((await place(id, 'src/assets/once.jpg', key)).body).toEqual(first.body);
    expect(await material.log(owner.siteId)).toHaveLength(commits);
  });

  test('of an unknown id is invalid_photo', async () => {
    for (const unknown of ['x', 'photo_01h455vb4pex5vsknk084sn02q', '101', '']) {
      const answer = await place(unknown, 'src/assets/a.jpg');
      expect([answer.status, errorOf(answer).code]).toEqual([400, 'invalid_photo']);
    }
  });

  test('without a path is invalid_path', async () => {
    const answer = await owner.call('POST', `/v1/sites/${owner.siteId}/photos`, { body: { photo_id: 'x' } });
    expect(errorOf(answer).code).toBe('invalid_path');
  });

  test('is stored under src/assets/ alone, with its format’s ending', async () => {
    const codes = [];
    for (const path of [
      'public/a.jpg',
      'src/pages/a.jpg',
      'src/assets/../a.jpg',
      'src/assets/a.png',
      'src/assets/a.js',
    ]) {
      codes.push(errorOf(await place(id, path)).code);
    }
    expect(codes).toEqual(['invalid_path', 'invalid_path', 'invalid_path', 'invalid_file', 'format_not_allowed']);
  });

  test('is fetched from the library’s hosts alone', async () => {
    library.fail('elsewhere');
    const { body } = await search(newQuery());
    const answer = await place(body.items[0].id, 'src/assets/a.jpg');
    expect(errorOf(answer)).toMatchObject({ code: 'provider_error', retryable: false });
    library.fail('none');
    await search(newQuery());
  });

  test('has a thumbnail on our host, without a token', async () => {
    await search(newQuery());
    const thumb = await fetch(`${material.url}/photos/${id}/thumb`);
    expect(thumb.headers.get('content-type')).toBe('image/jpeg');
    expect(thumb.headers.get('x-content-type-options')).toBe('nosniff');
    expect(Buffer.from(await thumb.arrayBuffer())).toEqual(sample.jpgOf(1600, 900));
    expect((await fetch(`${material.url}/photos/photo_01h455vb4pex5vsknk084sn02q/thumb`)).status).toBe(404);
  });
});

test('the offline library has real pictures that a site accepts', async () => {
  const offline = await createMaterial({ FRONTAGE_PHOTOS: 'offline' });
  try {
    const caller = await offline.owner();
    const found = await caller.call('POST', '/v1/photos/search', { body: { query: Object.keys(scenes).join(' ') } });
    expect(found.body.items).toHaveLength(Object.keys(scenes).length);
    expect(found.body.items[0].description).toMatch(/bread/);
    for (const [n, { id }] of found.body.items.entries()) {
      const body = { photo_id: id, path: `src/assets/${n}.jpg` };
      expect((await caller.call('POST', `/v1/sites/${caller.siteId}/photos`, { body })).status).toBe(200);
      expect((await fetch(`${offline.url}/photos/${id}/thumb`)).headers.get('content-type')).toBe('image/jpeg');
    }
  } finally {
    await offline.close();
  }
});

test('without a library the calls are photos_disabled', async () => {
  const none = await createMaterial();
  try {
    const caller = await none.owner();
    for (const path of ['/v1/photos/search', `/v1/sites/${caller.siteId}/photos`]) {
      const answer = await caller.call('POST', path, { raw: 'no json' });
      expect([answer.status, errorOf(answer).code]).toEqual([503, 'photos_disabled']);
    }
    expect((await caller.call('GET', '/v1/account')).body.capabilities.photos).toBe(false);
  } finally {
    await none.close();
  }
});

test('a library without its key is an invalid configuration', () => {
  expect(() => readConfig({ FRONTAGE_SECRET: 'x'.repeat(32), FRONTAGE_PHOTOS: 'pexels' })).toThrow(/PEXELS_KEY/);
});
