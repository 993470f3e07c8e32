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

test('a failed build says why with its log, and the live version stays', async () => {
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
  expect((await stack.visit(site.name, '/')).text).toBe(before);
  await change(site, 'src/pages/broken.astro', page('Mended'));
  expect((await publish(site)).body.status).toBe('live');
  await expectPage(site, '/broken/', 'Mended');
});

test('posts are published with the live source, and unpublished source stays unpublished', async () => {
  const site = await newSite('blog');
  const first = (await publish(site)).body;
  await change(site, 'src/pages/secret.astro', page('Not yet'));
  await change(
    site,
    'src/content/posts/news.md',
    '---\ntitle: News\ndescription: New\ndate: 2026-01-02\n---\nFresh bread.\n',
  );
  const { body } = await publish(site, 'posts');
  expect(body).toMatchObject({ status: 'live', kind: 'posts', source_commit: first.source_commit });
  expect(body.content_commit).not.toBe(first.content_commit);
  expect((await stack.visit(site.name, '/secret')).status).toBe(404);
  const { body: files } = await stack.api(`/v1/deployments/${body.id}/files?limit=200`);
  expect(files.items.some((file: { path: string }) => file.path.includes('news'))).toBe(true);
});

test('a draft never reaches the live site, and unreadable front matter fails the build', async () => {
  const site = await newSite('blog');
  await change(
    site,
    'src/content/posts/hidden.md',
    '---\ntitle: Hidden\ndescription: x\ndate: 2026-01-02\ndraft: true\n---\nSecret plans.\n',
  );
  const { body } = await publish(site);
  expect(body.status).toBe('live');
  const { body: files } = await stack.api(`/v1/deployments/${body.id}/files?limit=200`);
  expect(files.items.filter((file: { path: string }) => file.path.includes('hidden'))).toEqual([]);
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

test('a version that was never live cannot be restored', async () => {
  const site = await newSite();
  await change(site, 'src/pages/index.astro', '---\nthrow new Error("no");\n---\n');
  await publish(site);
  const [failed] = (await stack.api(`/v1/sites/${site.id}/deployments`)).body.items;
  const { status, body } = await post(`/v1/deployments/${failed.id}/restore`);
  expect({ status, code: body.error.code }).toEqual({ status: 409, code: 'not_restorable' });
});

test('publishing live work returns that deployment, and no-cache builds again', async () => {
  const site = await newSite();
  const first = (await publish(site)).body;
  expect((await publish(site)).body.id).toBe(first.id);
  const anew = await post(`/v1/sites/${site.id}/publish`, {}, { prefer: 'wait=50', 'cache-control': 'no-cache' });
  expect(anew.body).toMatchObject({ status: 'live', number: first.number + 1 });
});

test('a caller that does not wait gets the next action and the outcome later', async () => {
  const site = await newSite();
  const { status, body } = await post(`/v1/sites/${site.id}/publish`, {}, { prefer: 'respond-async' });
  expect(status).toBe(200);
  expect(['queued', 'building']).toContain(body.status);
  expect(body.next_action).toContain(`GET /v1/deployments/${body.id}`);
  const { body: log } = await stack.api(`/v1/deployments/${body.id}/log`, { headers: { accept: 'text/event-stream' } });
  expect(String(log)).toContain('event: end\nid: end\ndata: live');
  const { body: ended } = await stack.api(`/v1/deployments/${body.id}`);
  expect(ended.status).toBe('live');
  expect(ended.next_action).toBeUndefined();
});

test('of publishes waiting for a build, the newest wins, and the others name it', async () => {
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

test("another account's deployment is not found", async () => {
  const site = await newSite();
  const { body } = await post(`/v1/sites/${site.id}/publish`, {}, { prefer: 'respond-async' });
  const { token } = await stack.openOwner();
  for (const path of ['', '/log', '/files']) {
    const answer = await stack.api(`/v1/deployments/${body.id}${path}`, { token });
    expect(answer.body.error.code).toBe('not_found');
  }
  const answer = await stack.api(`/v1/deployments/${body.id}/restore`, { method: 'POST', token });
  expect(answer.body.error.code).toBe('not_found');
});

test('deployments are listed newest first, in pages', async () => {
  const site = await newSite();
  // The list has them from the moment they are asked for; the archive at the end stops what is still built.
  for (let n = 0; n < 3; n++)
    await post(`/v1/sites/${site.id}/publish`, {}, { prefer: 'respond-async', 'cache-control': 'no-cache' });
  const first = (await stack.api(`/v1/sites/${site.id}/deployments?limit=2`)).body;
  const second = (await stack.api(`/v1/sites/${site.id}/deployments?limit=2&cursor=${first.next_cursor}`)).body;
  const numbers = [...first.items, ...second.items].map((deployment: { number: number }) => deployment.number);
  expect(numbers).toEqual([3, 2, 1]);
  expect(second.next_cursor).toBeNull();
  await post(`/v1/sites/${site.id}/archive`);
});

test('publishing a site without its source is no_source', async () => {
  const site = await newSite();
  await rm(join(stack.dataDir, 'repositories', `${site.id}.git`, 'refs/heads/main'));
  const { status, body } = await publish(site);
  expect({ status, code: body.error.code }).toEqual({ status: 409, code: 'no_source' });
});

test('an account that reaches its hourly publish limit learns when to retry', async () => {
  const { token } = await stack.openOwner();
  const call = (path: string, body: unknown) =>
    stack.api(path, { method: 'POST', body, token, headers: { prefer: 'respond-async', 'cache-control': 'no-cache' } });
  const { body: site } = await call('/v1/sites', { name: `often-${process.pid}`, title: 'Often' });
  for (let n = 0; n < 60; n++) expect((await call(`/v1/sites/${site.id}/publish`, {})).status).toBe(200);
  const { status, headers, body } = await call(`/v1/sites/${site.id}/publish`, {});
  expect({ status, code: body.error.code, retryable: body.error.retryable }).toEqual({
    status: 429,
    code: 'rate_limited',
    retryable: true,
  });
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(3000);
  await stack.api(`/v1/sites/${site.id}/archive`, { method: 'POST', token });
});
