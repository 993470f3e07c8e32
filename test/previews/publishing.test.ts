/** Publishing and updating a slot's work, with builds that copy. */
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Rendering } from '#db/renderings/rendering.ts';
import { finishRendering } from '#db/renderings/transitions.ts';
import { blobPath } from '#providers/store/disk.ts';
import { errorOf } from '#test/api/fixture.ts';
import { createPreviewFixture, draftPost, type PreviewFixture, page, path } from './fixture.ts';

let fixture: PreviewFixture;
beforeAll(async () => {
  fixture = await createPreviewFixture({ env: { FRONTAGE_SCREENSHOTS: 'on' } });
}, 60_000);
afterAll(() => fixture.close());

const manifestOf = async (id: string) => {
  const { body } = await fixture.owner.call('GET', `/v1/deployments/${id}/files?limit=200`);
  return new Map<string, string>(body.items.map((file: { path: string; sha256: string }) => [file.path, file.sha256]));
};

describe('publishing a slot', () => {
  test('puts its work on main of both repositories, and its build live, without drafts', async () => {
    const site = await fixture.newSite();
    await fixture.publishSite(site);
    const source = await fixture.write(site, 'preview/2', { 'new.html': page('Ours') });
    const post = {
      'posts/plans.md': draftPost('the secret plans'),
      'posts/news.md': '---\ntitle: News\n---\nFresh.\n',
    };
    const content = await fixture.write(site, 'preview/2', post, 'content');
    const { body: slot } = await fixture.build(site, 2);
    await fixture.isServed(slot.address, '/src/content/posts/plans.md', 'the secret plans');
    const comparisons = `/v1/deployments/${slot.deployment_id}/comparisons`;
    expect(slot.next_action).toContain(`POST ${comparisons}`);
    const soon = { body: {}, headers: { prefer: 'respond-async' } };
    const { body: compared } = await fixture.owner.call('POST', comparisons, soon);
    const { body: before } = await fixture.owner.call('GET', `/v1/sites/${site.id}`);
    expect(compared).toMatchObject({ status: 'queued', against: before.live_deployment_id });
    const em = fixture.deps.em();
    const rendering = await em.findOneOrFail(Rendering, { id: compared.id });
    const same = { pages: [], unchanged: ['/'], pagesLeft: 0 };
    await finishRendering(em, fixture.deps.clock, rendering, { pictures: [], result: same });
    const { body: done } = await fixture.owner.call('GET', `/v1/comparisons/${compared.id}`);
    expect(done.next_action).toContain(`POST ${path(site, 2, '/publish')}`);
    const builds = fixture.copying.sandbox.builds;
    const { status, body } = await fixture.publish(site, 2);
    expect({ status, is: body.status }).toEqual({ status: 200, is: 'live' });
    expect(body).toMatchObject({ kind: 'preview', source_commit: source, content_commit: content, restorable: true });
    expect(fixture.copying.sandbox.builds).toBe(builds);
    expect(await fixture.repositories.head(site.id, 'source')).toBe(source);
    expect(await fixture.repositories.head(site.id, 'content')).toBe(content);
    const [drafts, live] = [await manifestOf(slot.deployment_id), await manifestOf(body.id)];
    expect(drafts.has('src/content/posts/plans.md')).toBe(true);
    drafts.delete('src/content/posts/plans.md');
    expect(live).toEqual(drafts);
    await fixture.isServed(site, '/new', 'Ours');
    expect((await fixture.visit(site, '/src/content/posts/plans.md')).status).toBe(404);
    const { body: read } = await fixture.owner.call('GET', `/v1/sites/${site.id}`);
    expect(read).toMatchObject({ live_deployment_id: body.id, has_unpublished_changes: false });
    expect((await fixture.read(site, 2)).body).toMatchObject({ status: 'draft', holds_work: false, behind: false });
    expect(errorOf(await fixture.publish(site, 2)).code).toBe('slot_not_branched');
  });

  test('is draft_behind if the site has moved, until an update merges it', async () => {
    const site = await fixture.newSite();
    await fixture.write(site, 'preview/1', { 'ours.html': page('Ours') });
    await fixture.build(site, 1);
    await fixture.write(site, 'main', { 'theirs.html': page('Theirs') });
    await fixture.write(site, 'main', { 'posts/theirs.md': '---\ntitle: T\n---\n' }, 'content');
    expect((await fixture.read(site, 1)).body).toMatchObject({ behind: true, holds_work: true });
    const refused = await fixture.publish(site, 1);
    expect([refused.status, errorOf(refused).code]).toEqual([409, 'draft_behind']);
    expect(errorOf(refused).next_action).toContain(`POST ${path(site, 1)}/update`);
    const { status, body } = await fixture.update(site, 1);
    expect([status, body]).toMatchObject([200, { status: 'draft', behind: false, holds_work: true }]);
    await fixture.isServed(body.address, '/theirs', 'Theirs');
    await fixture.isServed(body.address, '/ours', 'Ours');
    expect((await fixture.update(site, 1)).body.deployment_id).toBe(body.deployment_id);
    expect((await fixture.publish(site, 1)).body.status).toBe('live');
    for (const name of ['ours', 'theirs']) expect((await fixture.visit(site, `/${name}`)).status).toBe(200);
  });

  test('of a renamed site is draft_behind: its pages contain the old name', async () => {
    const site = await fixture.newSite();
    await fixture.write(site, 'preview/1', { 'ours.html': page('Ours') });
    await fixture.build(site, 1);
    await fixture.owner.call('PATCH', `/v1/sites/${site.id}`, { body: { name: `${site.name}-b` } });
    expect(errorOf(await fixture.publish(site, 1)).code).toBe('draft_behind');
    await fixture.update(site, 1);
    expect((await fixture.publish(site, 1)).body.status).toBe('live');
  });

  test('under one Idempotency-Key runs once, and so does a build', async () => {
    const site = await fixture.newSite();
    await fixture.write(site, 'preview/1', { 'a.html': page('Once') });
    const headers = { prefer: 'wait=50', 'idempotency-key': 'one' };
    for (const act of ['', '/publish']) {
      const [first, second] = [0, 1].map(() => fixture.owner.call('POST', path(site, 1, act), { headers }));
      expect((await first)?.status).toBe(200);
      // Warnings are told once they are known.
      const told = [(await first)?.body, (await second)?.body].map(({ warnings: _, ...rest }) => rest);
      expect(told[1]).toEqual(told[0]);
    }
    const { body } = await fixture.owner.call('GET', `/v1/sites/${site.id}/deployments`);
    expect(body.items.map(({ status }: { status: string }) => status)).toEqual(['live', 'ready']);
  });

  test('uses files of an earlier build if nothing but draft posts differs', async () => {
    const site = await fixture.newSite();
    const { body: first } = await fixture.publishSite(site);
    const builds = async (posts: Record<string, string>) => {
      await fixture.write(site, 'preview/1', posts, 'content');
      const before = fixture.copying.sandbox.builds;
      const { body } = await fixture.build(site, 1);
      await fixture.isServed(body.address, '/src/content/posts/plans.md', 'secret');
      return fixture.copying.sandbox.builds - before;
    };
    expect(await builds({ 'posts/plans.md': draftPost('the secret plans') })).toBe(1);
    const { body: same } = await fixture.publish(site, 1);
    expect(await manifestOf(same.id)).toEqual(await manifestOf(first.id));
    expect(await builds({ 'posts/news.md': '---\ntitle: News\n---\nFresh.\n' })).toBe(2);
    expect(await builds({ 'posts/plans.md': draftPost('more secret plans') })).toBe(1);
    const { body: slot } = await fixture.read(site, 1);
    const { text: log } = await fixture.owner.call('GET', `/v1/deployments/${slot.deployment_id}/log`);
    expect(log).toMatch(/^Without drafts, the site is the same as in version \d+\.\nBuilding with drafts\.\n/);
    // What a removed collaborator's code made is not used again.
    await fixture.deps.em().execute('update site set cache_epoch = cache_epoch + 1 where id = ?', [site.id]);
    expect(await builds({ 'posts/plans.md': draftPost('the last secret plans') })).toBe(2);
    expect(await builds({ 'posts/plans.md': draftPost('the very last secret plans') })).toBe(1);
    // Nor what was made for another address, or in another image.
    for (const other of ["site_url = 'https://other.example'", "image = 'other'"]) {
      await fixture.deps.em().execute(`update deployment set ${other} where site_id = ?`, [site.id]);
      expect(await builds({ 'posts/plans.md': draftPost(`secret plans, ${other}`) })).toBe(2);
    }
    const { body: live } = await fixture.publish(site, 1);
    const files = await manifestOf(live.id);
    expect([files.has('src/content/posts/news.md'), files.has('src/content/posts/plans.md')]).toEqual([true, false]);
    const fresh = { body: {}, headers: { prefer: 'wait=50', 'cache-control': 'no-cache' } };
    const { body: rebuilt } = await fixture.owner.call('POST', `/v1/sites/${site.id}/publish`, fresh);
    expect(rebuilt.id).not.toBe(live.id);
    expect(await manifestOf(rebuilt.id)).toEqual(files);
    // Files that the store has lost are made again.
    const [lost] = [...files.values()];
    await rm(blobPath(fixture.config.storeDir as string, lost as string));
    expect(await builds({ 'posts/plans.md': draftPost('no secret plans') })).toBe(2);
  });

  test('leaves later pushes in the slot', async () => {
    const site = await fixture.newSite();
    const built = await fixture.write(site, 'preview/1', { 'a.html': page('Built') });
    await fixture.build(site, 1);
    const later = await fixture.write(site, 'preview/1', { 'a.html': page('Later') });
    const address = expect.stringContaining('://');
    expect((await fixture.publish(site, 1)).body).toMatchObject({ status: 'live', source_commit: built, address });
    expect(await fixture.repositories.head(site.id, 'source')).toBe(built);
    expect(await fixture.repositories.head(site.id, 'source', 'preview/1')).toBe(later);
    expect((await fixture.read(site, 1)).body).toMatchObject({ holds_work: true, behind: false });
  });
});

describe('an update', () => {
  test('with conflicting files is draft_conflict, names them, and moves nothing', async () => {
    const site = await fixture.newSite();
    await fixture.write(site, 'main', { 'same.html': 'old' });
    await fixture.write(site, 'main', { 'posts/same.md': 'old' }, 'content');
    const tips = {
      source: await fixture.write(site, 'preview/1', { 'same.html': 'ours' }),
      content: await fixture.write(site, 'preview/1', { 'posts/other.md': 'ours' }, 'content'),
    };
    await fixture.build(site, 1);
    await fixture.write(site, 'main', { 'same.html': 'theirs' });
    await fixture.write(site, 'main', { 'posts/same.md': 'theirs' }, 'content');
    const answer = await fixture.update(site, 1);
    expect([answer.status, errorOf(answer).code]).toEqual([409, 'draft_conflict']);
    expect(errorOf(answer).message).toContain('same.html');
    expect(errorOf(answer).message).not.toContain('posts/');
    expect(await fixture.repositories.head(site.id, 'source', 'preview/1')).toBe(tips.source);
    expect(await fixture.repositories.head(site.id, 'content', 'preview/1')).toBe(tips.content);
    await fixture.write(site, 'preview/1', { 'posts/same.md': 'ours' }, 'content');
    expect(errorOf(await fixture.update(site, 1)).message).toContain('same.html, src/content/posts/same.md');
  });

  test('beyond a site’s limits is refused by the rule of a push', async () => {
    const files = (name: string) => Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`${name}${n}.html`, 'x']));
    const small = await createPreviewFixture({ limits: { site_files: 24 } });
    try {
      const site = await small.newSite();
      await small.write(site, 'preview/1', files('a'));
      await small.build(site, 1);
      await small.write(site, 'main', files('b'));
      expect(errorOf(await small.update(site, 1)).code).toBe('plan_limit');
      expect((await small.read(site, 1)).body).toMatchObject({ behind: true, holds_work: true });
    } finally {
      await small.close();
    }
  });
});
