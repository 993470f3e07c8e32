import { existsSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { overlayModules } from '../../web/overlay/modules.ts';
import { callWith, createSite, errorOf } from '../api/world.ts';
import { people } from '../invitations/world.ts';
import { createWorld, type World } from '../output/world.ts';
import { commentsOf } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld({ FRONTAGE_EDGE_URL: 'http://sites.localhost', FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:9' });
});
afterAll(() => world?.close());

const page = '<!doctype html><html><head><title>T</title></head><body><h1>Hello</h1></body></html>';

async function newSite() {
  const owner = await world.newCaller();
  const site = await createSite(owner);
  await world.publish(site.id, owner.accountId, { 'index.html': page, 'a.css': 'b{}', '404.html': page });
  await expect.poll(async () => (await world.visit(site.name, '/')).text).toBe(page);
  return { ...owner, site, ...commentsOf(owner, site.id) };
}

const secretOf = (body: { url: string }) => body.url.split('/').at(-1) ?? '';
const open = (secret: string) => fetch(`${world.url}/review/${secret}`, { redirect: 'manual' });

/** Calls as the overlay's frame does. */
const asFrame = (secret: string) => {
  const call = callWith(world.url);
  const headers = { 'x-review': secret };
  return {
    threads: () => call('GET', '/review/threads', { headers }),
    comment: (body: object, more: Record<string, string> = {}) =>
      call('POST', '/review/threads', {
        body: { page: '/', body: 'Larger', position: {}, ...body },
        headers: { ...headers, ...more },
      }),
    answer: (id: string, body: object) => call('POST', `/review/threads/${id}`, { body, headers }),
  };
};

/** All that the database holds, but for the counters of requests. */
async function everything(): Promise<string> {
  const em = world.deps.em();
  const tables = await em.execute<{ name: string }[]>(
    `select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'rate_limit' order by 1`,
  );
  const sums = await Promise.all(
    tables.map(({ name }) =>
      em.fork().execute(`select md5(string_agg(row::text, '' order by row::text)) from "${name}" row`),
    ),
  );
  expect(tables.length).toBeGreaterThan(15);
  return JSON.stringify(sums);
}

test('a link leads to the site, leaves its key on our host alone, and writes nothing', async () => {
  const owner = await newSite();
  const { body } = await owner.review();
  const before = await everything();
  for (const method of ['HEAD', 'GET', 'GET']) {
    const answer = await fetch(`${world.url}/review/${secretOf(body)}`, { method, redirect: 'manual' });
    expect(answer.status).toBe(303);
    const to = new URL(answer.headers.get('location') ?? '');
    expect(to.origin).toBe(`http://${owner.site.name}.${world.config.baseDomain}`);
    expect(to.href).not.toContain(secretOf(body));
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const [cookie = ''] = answer.headers.getSetCookie();
    expect(cookie).toMatch(/^__Host-frontage_review_[0-9a-z]{16}=frr_/);
    for (const flag of ['HttpOnly', 'Secure', 'SameSite=Lax', 'Path=/']) expect(cookie).toContain(flag);
    expect(cookie).not.toContain('Domain');
  }
  expect(await everything()).toBe(before);
});

test('on the site only whoever came by a link gets the loader, and everybody else the page as it was built', async () => {
  const owner = await newSite();
  const marker = `/.frontage/review?site=${owner.site.public_id}&for=60`;
  const marked = await world.visit(owner.site.name, marker);
  expect([marked.status, marked.headers.location]).toEqual([303, '/']);
  const cookie = String(marked.headers['set-cookie']).split(';')[0] ?? '';
  expect(cookie).toBe(`__Host-frontage_review=${owner.site.public_id}`);
  const etag = (await world.visit(owner.site.name, '/')).headers.etag ?? '';
  const reviewed = await world.visit(owner.site.name, '/', { cookie, 'if-none-match': etag, 'accept-encoding': 'br' });
  const loader = `<script type="module" src="/.frontage/overlay/loader.js" data-frontage-frame="${world.config.baseUrl}/review/frame/${owner.site.public_id}"></script>`;
  expect(reviewed.text).toBe(page.replace('</body>', `${loader}</body>`));
  expect(reviewed.headers['cache-control']).toBe('private, no-store');
  expect(reviewed.headers.etag).toBeUndefined();
  expect(reviewed.headers['content-length']).toBe(String(reviewed.body.length));
  expect((await world.visit(owner.site.name, '/nowhere', { cookie })).text).toContain(loader);
  for (const headers of [{}, { cookie: 'other=1' }, { cookie: '__Host-frontage_review=../../evil' }]) {
    expect((await world.visit(owner.site.name, '/', headers)).text).toBe(page);
  }
  const style = await world.visit(owner.site.name, '/a.css', { cookie });
  expect([style.text, style.headers.etag === undefined]).toEqual(['b{}', false]);
});

test.each([
  ['/.frontage/review?site=x', 404],
  ['/.frontage/review?site=0123456789abcdef&to=//evil.example', 404],
  ['/.frontage/review?site=0123456789abcdef&to=/%5Cevil.example', 404],
  ['/.frontage/leave?to=https://evil.example', 404],
  ['/.frontage/overlay/../server.ts', 404],
  ['/.frontage/overlay/frame.js', 404],
  ['/.frontage/', 404],
])('the path %s of a site leads nowhere', async (path, status) => {
  const owner = await newSite();
  const answer = await world.visit(owner.site.name, path);
  expect([answer.status, answer.headers.location]).toEqual([status, undefined]);
});

test('a frame may stand in pages of its own site alone, and runs its own script alone', async () => {
  const owner = await newSite();
  const answer = await fetch(`${world.url}/review/frame/${owner.site.public_id}`);
  const policy = answer.headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(new RegExp(`frame-ancestors http://${owner.site.name}\\.${world.config.baseDomain}(;|$| )`));
  expect(policy).not.toMatch(/\*|unsafe|frame-ancestors 'none'/);
  expect(policy).toMatch(/script-src 'sha256-[^']+'(;|$)/);
  expect(policy).toContain("form-action 'none'");
  expect(answer.headers.get('x-frame-options')).toBeNull();
  const unknown = await fetch(`${world.url}/review/frame/${'0'.repeat(16)}`);
  expect([unknown.status, unknown.headers.get('content-security-policy')?.includes("frame-ancestors 'none'")]).toEqual([
    404,
    true,
  ]);
});

test('the key is handed over by our own host, to whoever has its cookie, for that site alone', async () => {
  const [owner, other] = [await newSite(), await newSite()];
  const secret = secretOf((await owner.review()).body);
  const ask = (id: string, cookie: string) =>
    fetch(`${world.url}/review/hand-over/${id}`, { headers: { cookie } }).then(async (answer) => ({
      text: await answer.text(),
      policy: answer.headers.get('content-security-policy'),
    }));
  const name = (id: string) => `__Host-frontage_review_${id}=${secret}`;
  const own = await ask(owner.site.public_id, name(owner.site.public_id));
  expect(own.text).toContain(secret);
  expect(own.policy).toContain("frame-ancestors 'none'");
  expect((await ask(owner.site.public_id, '')).text).not.toContain(secret);
  expect((await ask(other.site.public_id, name(other.site.public_id))).text).not.toContain(secret);
});

test('a link reads and writes comments of its site as its maker, and nothing of another', async () => {
  const [owner, other] = [await newSite(), await newSite()];
  const frame = asFrame(secretOf((await owner.review()).body));
  const { body: theirs } = await other.open('Not yours');
  const position = {
    selector: 'h1',
    quote: 'Hello',
    x: 1,
    y: 2,
    within: { x: 0, y: 0.5 },
    viewport: { width: 390, height: 844 },
  };
  const made = await frame.comment({ body: 'Larger', position, missing: 'failed' });
  expect(made.body.thread).toMatchObject({
    site_id: owner.site.id,
    page: '/',
    position,
    screenshot: { missing: 'The browser could not draw the page.' },
    messages: [{ author_kind: 'owner', body: 'Larger' }],
  });
  expect((await owner.list()).body.items).toEqual([made.body.thread]);
  const { id } = made.body.thread;
  await owner.reply(id, 'How large?');
  expect(
    (await frame.answer(id, { message: 'Twice' })).body.thread.messages.map(
      (m: { author_kind: string }) => m.author_kind,
    ),
  ).toEqual(['owner', 'agent', 'owner']);
  expect((await frame.answer(id, { action: 'resolve' })).body.thread.status).toBe('resolved');
  expect((await frame.answer(id, { action: 'reopen' })).body.thread.status).toBe('open');
  expect((await frame.threads()).body.threads.map((thread: { id: string }) => thread.id)).toEqual([id]);
  for (const sent of [{ message: 'x' }, { action: 'resolve' }]) {
    expect(errorOf(await frame.answer(theirs.id, sent)).code).toBe('not_found');
  }
  expect(errorOf(await frame.answer(id, {})).code).toBe('invalid_json');
  expect((await other.list()).body.items).toEqual([theirs]);
});

test('a link reaches no other site that its maker has, and no call of the API', async () => {
  const owner = await newSite();
  const second = await createSite(owner);
  const secret = secretOf((await owner.review()).body);
  const { body: elsewhere } = await commentsOf(owner, second.id).open('Elsewhere');
  const frame = asFrame(secret);
  expect(errorOf(await frame.answer(elsewhere.id, { message: 'x' })).code).toBe('not_found');
  expect((await frame.threads()).text).not.toContain('Elsewhere');
  for (const token of [secret, secret.replace('frr_', 'fro_')]) {
    const answer = await callWith(world.url, token)('GET', `/v1/sites/${owner.site.id}`);
    expect(errorOf(answer).code).toBe('unauthorized');
  }
});

test('without its key, or with its cookie alone, the frame’s calls are not found', async () => {
  const owner = await newSite();
  const secret = secretOf((await owner.review()).body);
  const call = callWith(world.url);
  const cookie = `__Host-frontage_review_${owner.site.public_id}=${secret}`;
  for (const headers of [{}, { cookie }, { 'x-review': `frr_${'0'.repeat(43)}` }, { 'x-review': owner.token }]) {
    const sent = { body: { page: '/', body: 'x', position: {} }, headers };
    expect(errorOf(await call('POST', '/review/threads', sent)).code).toBe('not_found');
    expect(errorOf(await call('GET', '/review/threads', { headers })).code).toBe('not_found');
  }
  expect((await owner.list()).body.items).toEqual([]);
});

test('a comment that is sent twice under one key is one comment', async () => {
  const owner = await newSite();
  const frame = asFrame(secretOf((await owner.review()).body));
  const key = { 'idempotency-key': crypto.randomUUID() };
  const both = await Promise.all([frame.comment({ body: 'Once' }, key), frame.comment({ body: 'Once' }, key)]);
  expect(both.map(({ status }) => status)).toEqual([200, 200]);
  expect((await owner.list()).body.items).toHaveLength(1);
});

test('a collaborator’s link speaks as a collaborator', async () => {
  const owner = await newSite();
  const helper = await people(world).newCollaborator(owner, owner.site.id);
  const { body } = await commentsOf(helper, owner.site.id).review();
  const { body: made } = await asFrame(secretOf(body)).comment({});
  expect(made.thread.messages[0].author_kind).toBe('collaborator');
});

test('a link opens nothing once it is ended, has run out, or its maker or its site is gone', async () => {
  const owner = await newSite();
  const helper = await people(world).newCollaborator(owner, owner.site.id);
  const made = {
    ended: (await owner.review()).body,
    short: (await owner.review({ expires_in_seconds: 60 })).body,
    helpers: (await commentsOf(helper, owner.site.id).review()).body,
    archived: (await owner.review()).body,
  };
  const states = () =>
    Promise.all(
      Object.values(made).map(async (link) => {
        const secret = secretOf(link);
        const page = await open(secret);
        const threads = await asFrame(secret).threads();
        const written = await asFrame(secret).comment({});
        expect([threads.status, written.status]).toEqual(page.status === 303 ? [200, 200] : [page.status, page.status]);
        return page.status;
      }),
    );
  expect(await states()).toEqual([303, 303, 303, 303]);
  await owner.call('DELETE', `/v1/review-links/${made.ended.id}`);
  expect(await states()).toEqual([410, 303, 303, 303]);
  world.skip(60_001);
  expect(await states()).toEqual([410, 410, 303, 303]);
  const removed = await owner.call('DELETE', `/v1/sites/${owner.site.id}/collaborators/${helper.accountId}`);
  expect(removed.body.ended.review_links).toBe(1);
  expect(await states()).toEqual([410, 410, 410, 303]);
  await owner.call('POST', `/v1/sites/${owner.site.id}/archive`);
  expect(await states()).toEqual([409, 409, 410, 409]);
  await owner.call('POST', `/v1/sites/${owner.site.id}/unarchive`);
  expect(await states()).toEqual([410, 410, 410, 410]);
});

test('all that the overlay loads is below 40 KB, compressed', async () => {
  const owner = await newSite();
  const frame = await (await fetch(`${world.url}/review/frame/${owner.site.public_id}`)).text();
  const parts = overlayModules.map(({ file }) => gzipSync(readFileSync(file)).length);
  expect(parts.length).toBeGreaterThan(4);
  const total = [...parts, gzipSync(frame).length].reduce((sum, bytes) => sum + bytes, 0);
  console.info(`the overlay is ${total} bytes, compressed`);
  expect(total).toBeLessThan(40_000);
  const served = await world.visit(owner.site.name, '/.frontage/overlay/loader.js', { 'accept-encoding': 'gzip' });
  expect([served.headers['content-encoding'], served.headers['content-type']]).toEqual([
    'gzip',
    'text/javascript; charset=utf-8',
  ]);
  expect(overlayModules.every(({ file }) => existsSync(file))).toBe(true);
});
