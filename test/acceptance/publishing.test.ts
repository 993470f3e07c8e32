/** The main use, over HTTP alone: a site is created, cloned, changed, pushed, published, visited, broken, fixed and restored. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useStack } from '#test/stack/stack.ts';
import { buildPatience, change, clone, expectPage, expectStatus, newSite, page, post, publish } from './story.ts';

const stack = useStack();

test('a site is created, cloned, changed, pushed, published and visited', async () => {
  const site = await newSite('blog');
  const git = await clone(site, 'source');
  const top = (await git('rev-parse', '--show-toplevel')).trim();
  await writeFile(join(top, 'src/pages/hello.astro'), page('Hello from git'));
  await git('add', '.');
  await git('commit', '-qm', 'Say hello');
  await git('push', '-q', 'origin', 'main');
  expect((await stack.api(`/v1/sites/${site.id}`)).body.has_unpublished_changes).toBe(true);
  const { status, body } = await publish(site);
  expect({ status, live: body.status }).toEqual({ status: 200, live: 'live' });
  await expectPage(site, '/hello/', 'Hello from git');
  expect((await stack.api(`/v1/sites/${site.id}`)).body.has_unpublished_changes).toBe(false);
  const head = (await git('rev-parse', 'HEAD')).trim();
  const { body: read } = await stack.api(`/v1/deployments/${body.id}`);
  expect(read.source_commit).toBe(head);
  expect(read.commits.map((commit: { subject: string }) => commit.subject)).toContain('Say hello');
  expect(read.changes.counts.added).toBe(read.file_count);
});

test('a failed build says why, cannot be restored, and the live version stays', async () => {
  const site = await newSite();
  expect((await publish(site)).body.status).toBe('live');
  await expectStatus(site, 200);
  const before = (await stack.visit(site.name, '/')).text;
  await change(site, 'src/pages/broken.astro', '---\nthrow new Error("the roof leaks");\n---\n<p>never</p>\n');
  const { status, body } = await publish(site);
  expect(status).toBe(422);
  expect(body.error).toMatchObject({ code: 'build_failed', retryable: false });
  expect(body.error.detail).toContain('the roof leaks');
  expect(body.error.next_action).toBeTruthy();
  const [failed] = (await stack.api(`/v1/sites/${site.id}/deployments`)).body.items;
  const { status: read, body: deployment } = await stack.api(`/v1/deployments/${failed.id}`);
  expect({ read, status: deployment.status }).toEqual({ read: 200, status: 'failed' });
  expect(deployment.error.detail).toContain('the roof leaks');
  const restored = await post(`/v1/deployments/${failed.id}/restore`);
  expect([restored.status, restored.body.error.code]).toEqual([409, 'not_restorable']);
  expect((await stack.visit(site.name, '/')).text).toBe(before);
  await change(site, 'src/pages/broken.astro', page('Mended'));
  expect((await publish(site)).body.status).toBe('live');
  await expectPage(site, '/broken/', 'Mended');
});

test('posts are published with the live source, without drafts, and unreadable ones fail', async () => {
  const site = await newSite('blog');
  const article = (title: string, more: string) => `---\ntitle: ${title}\ndescription: x\ndate: 2026-01-02\n${more}`;
  await change(site, 'src/content/posts/hidden.md', article('Hidden', 'draft: true\n---\nSecret plans.\n'));
  const first = (await publish(site)).body;
  expect(first.status).toBe('live');
  const filesOf = async (id: string): Promise<string[]> =>
    (await stack.api(`/v1/deployments/${id}/files?limit=200`)).body.items.map(({ path }: { path: string }) => path);
  expect((await filesOf(first.id)).filter((path) => path.includes('hidden'))).toEqual([]);
  await change(site, 'src/pages/secret.astro', page('Not yet'));
  await change(site, 'src/content/posts/news.md', article('News', '---\nFresh bread.\n'));
  const { body } = await publish(site, 'posts');
  expect(body).toMatchObject({ status: 'live', kind: 'posts', source_commit: first.source_commit });
  expect(body.content_commit).not.toBe(first.content_commit);
  expect((await stack.visit(site.name, '/secret')).status).toBe(404);
  expect((await filesOf(body.id)).some((path) => path.includes('news'))).toBe(true);
  await change(site, 'src/content/posts/broken.md', '---\ntitle: [never closed\n---\nWords.\n');
  const failed = await publish(site, 'posts');
  expect(failed.body.error.code).toBe('build_failed');
  expect(failed.body.error.message).toContain('posts/broken.md');
});

test('a restore takes effect at once, and moves no git branch', async () => {
  const site = await newSite();
  await change(site, 'src/pages/v.astro', page('First version'));
  const first = (await publish(site)).body;
  await change(site, 'src/pages/v.astro', page('Second version'));
  const second = (await publish(site)).body;
  expect((await stack.api(`/v1/deployments/${first.id}`)).body).toMatchObject({ status: 'retired', restorable: true });
  const restored = await post(`/v1/deployments/${first.id}/restore`);
  expect(restored.body).toMatchObject({ id: first.id, status: 'live' });
  await expectPage(site, '/v/', 'First version');
  expect((await stack.api(`/v1/deployments/${second.id}`)).body.status).toBe('retired');
  expect((await stack.api(`/v1/sites/${site.id}`)).body.unpublished_changes.source).toBe(true);
});

test('a caller that does not wait gets the outcome later, and a stranger nothing', async () => {
  const site = await newSite();
  const { status, body } = await post(`/v1/sites/${site.id}/publish`, {}, { prefer: 'respond-async' });
  expect(status).toBe(200);
  expect(['queued', 'building']).toContain(body.status);
  expect(body.next_action).toContain(`GET /v1/deployments/${body.id}`);
  const { token } = await stack.openOwner();
  for (const path of ['', '/log', '/files']) {
    const foreign = await stack.api(`/v1/deployments/${body.id}${path}`, { token });
    expect(foreign.body.error.code).toBe('not_found');
  }
  const foreign = await stack.api(`/v1/deployments/${body.id}/restore`, { method: 'POST', token });
  expect(foreign.body.error.code).toBe('not_found');
  const { body: log } = await stack.api(`/v1/deployments/${body.id}/log`, { headers: { accept: 'text/event-stream' } });
  expect(String(log)).toContain('event: end\nid: end\ndata: live');
  const { body: ended } = await stack.api(`/v1/deployments/${body.id}`);
  expect(ended.status).toBe('live');
  expect(ended.next_action).toBeUndefined();
});

test('of publishes waiting for a build, the newest wins, and pages list all', async () => {
  const site = await newSite();
  const ids: string[] = [];
  for (let n = 0; n < 4; n++) {
    const { body } = await post(
      `/v1/sites/${site.id}/publish`,
      {},
      { prefer: 'respond-async', 'cache-control': 'no-cache' },
    );
    ids.push(body.id);
    if (n === 0)
      await expect
        .poll(async () => (await stack.api(`/v1/deployments/${ids[0]}`)).body.status, {
          timeout: buildPatience,
          interval: 50,
        })
        .not.toBe('queued');
  }
  await expect
    .poll(async () => (await stack.api(`/v1/deployments/${ids[3]}`)).body.status, { timeout: buildPatience })
    .toBe('live');
  const ends = await Promise.all(ids.map(async (id) => (await stack.api(`/v1/deployments/${id}`)).body));
  expect(ends.map((end) => end.status)).toEqual(['retired', 'superseded', 'superseded', 'live']);
  expect(ends[1]?.superseded_by).toBe(ids[2]);
  expect(ends[2]?.superseded_by).toBe(ids[3]);
  const first = (await stack.api(`/v1/sites/${site.id}/deployments?limit=3`)).body;
  const second = (await stack.api(`/v1/sites/${site.id}/deployments?limit=3&cursor=${first.next_cursor}`)).body;
  const numbers = [...first.items, ...second.items].map((deployment: { number: number }) => deployment.number);
  expect(numbers).toEqual([4, 3, 2, 1]);
  expect(second.next_cursor).toBeNull();
});

test('posts need a live site, and an unknown scope is refused', async () => {
  const site = await newSite();
  expect((await publish(site, 'posts')).body.error.code).toBe('no_live_version');
  expect((await post(`/v1/sites/${site.id}/publish`, { scope: 'everything' })).body.error.code).toBe('invalid_scope');
});

test('an archived site serves nothing, accepts no publish, and its builds stop', async () => {
  const site = await newSite();
  await publish(site);
  await expectStatus(site, 200);
  const { body: building } = await post(
    `/v1/sites/${site.id}/publish`,
    {},
    { prefer: 'respond-async', 'cache-control': 'no-cache' },
  );
  expect((await post(`/v1/sites/${site.id}/archive`)).body.status).toBe('archived');
  expect((await stack.api(`/v1/deployments/${building.id}`)).body.status).toBe('cancelled');
  await expectStatus(site, 410);
  expect((await publish(site)).body.error.code).toBe('site_archived');
  expect((await post(`/v1/sites/${site.id}/unarchive`)).body.status).toBe('active');
  await expectStatus(site, 200);
});

test('publishing a site without its source is no_source', async () => {
  const site = await newSite();
  await rm(join(stack.dataDir, 'repositories', `${site.id}.git`, 'refs/heads/main'));
  const { status, body } = await publish(site);
  expect({ status, code: body.error.code }).toEqual({ status: 409, code: 'no_source' });
});
