/** Build caches, over HTTP: they reach the next build of the same site, and nobody else. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Sandbox } from '#providers/sandbox/sandbox.ts';
import { type Caller, createFixture, createSite, type Fixture } from '#test/api/fixture.ts';
import { openKind } from '#test/sandbox/fixture.ts';
import { createNamespace, startWorker } from '#test/stack/worker.ts';

/** Says in the log what it finds among the caches, and then writes there. */
const poisoning = (words: string) => `
  import fs from 'node:fs'; import os from 'node:os'; import path from 'node:path';
  const folder = path.join(os.tmpdir(), 'cache', 'astro');
  const found = path.join(folder, 'poison');
  console.log('FOUND ' + (fs.existsSync(found) ? fs.readFileSync(found, 'utf8') : 'nothing'));
  ${words && `fs.mkdirSync(folder, { recursive: true }); fs.writeFileSync(found, ${JSON.stringify(words)});`}
  export default {};`;

/** A post whose front matter runs code, on a page that imports it as a module. */
const frontMatter = 'title: Post\ndescription: A post\ndate: 2026-01-01';
const postThatRuns = `---\n${frontMatter}\nlayout: "data:text/javascript,${encodeURIComponent(
  `import fs from 'node:fs'; fs.writeFileSync('/tmp/cache/astro/poison', 'by a post');
   export default Object.assign(() => '', { isAstroComponentFactory: true });`,
)}"\n---\nText.\n`;
const pageOfPosts = `---\nconst posts = Object.values(import.meta.glob('../content/posts/*.md', { eager: true }));
---\n<h1>Posts</h1>{posts.map(({ Content }) => <Content />)}`;

describe('build caches', { tags: 'bubblewrap' }, () => {
  let fixture: Fixture;
  let worker: Awaited<ReturnType<typeof startWorker>>;
  let owner: Caller;
  let neighbour: Caller;
  const over = new Set<string>();
  beforeAll(async () => {
    fixture = await createFixture({ TEMPORAL_NAMESPACE: await createNamespace() });
    [owner, neighbour] = [await fixture.newCaller(), await fixture.newCaller()];
    const real = await openKind('bubblewrap');
    const build: Sandbox['build'] = (request) => real.build(request).finally(() => over.add(request.deploymentId));
    worker = await startWorker(fixture.deps, { sandbox: { ...real, build } });
  }, 300_000);
  afterAll(async () => {
    await worker?.close();
    await fixture?.close();
  });

  /** A site whose build takes half as long as a starter's. */
  async function newSite(caller: Caller) {
    const site = await createSite(caller, { template: null });
    await commit(caller, site.id, { path: 'src/pages/index.astro', text: '<h1>Plain</h1>' });
    return site;
  }

  let posts = 0;
  /** Commits a post and, if given, the configuration, and publishes both. Returns what the build found. */
  async function publish(
    caller: Caller,
    siteId: unknown,
    { config, post, headers = {} }: { config?: string; post?: string; headers?: Record<string, string> } = {},
  ) {
    posts += 1;
    const text = post ?? `---\n${frontMatter}\n---\nThe ${posts}th text.\n`;
    await commit(caller, siteId, { path: 'src/content/posts/one.md', text });
    if (config !== undefined) await commit(caller, siteId, { path: 'astro.config.mjs', text: config });
    const asked = { body: {}, headers: { prefer: 'wait=50', ...headers } };
    const { body, text: answer } = await caller.call('POST', `/v1/sites/${siteId}/publish`, asked);
    expect(body.id, answer).toBeDefined();
    const read = () => caller.call('GET', `/v1/deployments/${body.id}`);
    await expect.poll(async () => (await read()).body.status, { timeout: 120_000, interval: 200 }).toBe('live');
    // Live comes first, and then the caches.
    await expect.poll(() => over.has(body.id), { timeout: 60_000, interval: 50 }).toBe(true);
    const log = await caller.call('GET', `/v1/deployments/${body.id}/log`);
    return /FOUND (.*)/.exec(log.text)?.[1];
  }

  async function commit(caller: Caller, siteId: unknown, change: { path: string; text: string }) {
    const body = { message: 'Change it', changes: [change] };
    const { status, text } = await caller.call('POST', `/v1/sites/${siteId}/commits`, { body });
    expect(status, text).toBe(200);
  }

  const slow = { timeout: 400_000 };
  const [clean, hostile] = [poisoning(''), poisoning('poison')];

  test('poisoned caches reach no other site, and end with no-cache or a revert', slow, async () => {
    const [mine, theirs, own] = [await newSite(owner), await newSite(neighbour), await newSite(owner)];
    expect(await publish(owner, mine.id, { config: hostile })).toBe('nothing');
    // Else the rest would show nothing. The same code with another post keeps its cache.
    expect(await publish(owner, mine.id)).toBe('poison');
    expect(await publish(owner, own.id, { config: hostile })).toBe('nothing');
    expect(await publish(neighbour, theirs.id, { config: hostile })).toBe('nothing');
    // It poisons its cache again, and what poisoned it is reverted.
    expect(await publish(owner, mine.id, { headers: { 'cache-control': 'no-cache' } })).toBe('nothing');
    expect(await publish(owner, mine.id, { config: clean })).toBe('nothing');
  });

  test('a post that runs code poisons no later build', slow, async () => {
    const site = await newSite(owner);
    await commit(owner, site.id, { path: 'src/pages/posts.astro', text: pageOfPosts });
    expect(await publish(owner, site.id, { config: clean, post: postThatRuns })).toBe('nothing');
    expect(await publish(owner, site.id)).toBe('nothing');
  });
});
