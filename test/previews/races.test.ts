/** Events between a slot's publish and its effect on the site. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { workflowIds } from '#rules/workflow-ids.ts';
import { errorOf } from '#test/api/fixture.ts';
import { createPreviewFixture, draftPost, type PreviewFixture, path, type Site } from './fixture.ts';

let fixture: PreviewFixture;
beforeAll(async () => {
  fixture = await createPreviewFixture();
}, 60_000);
afterAll(() => fixture?.close());

const heads = async (site: Site, branch?: string) => [
  await fixture.repositories.head(site.id, 'source', branch),
  await fixture.repositories.head(site.id, 'content', branch),
];
const liveOf = async (site: Site) => {
  const { body } = await fixture.owner.call('GET', `/v1/sites/${site.id}`);
  return body.live_deployment_id;
};
const newest = async (site: Site) =>
  (await fixture.owner.call('GET', `/v1/sites/${site.id}/deployments`)).body.items[0];

/** A published site, and a slot with work in both repositories that is built. */
async function prepared(slot = 1) {
  const site = await fixture.newSite();
  const { body: first } = await fixture.publishSite(site);
  const tips = await fill(site, slot);
  return { site, first, tips };
}

async function fill(site: Site, slot: number) {
  const source = await fixture.write(site, `preview/${slot}`, { [`slot${slot}.html`]: 'x' });
  const content = await fixture.write(site, `preview/${slot}`, { [`posts/${slot}.md`]: draftPost('x') }, 'content');
  await fixture.build(site, slot);
  return [source, content];
}

/** Publishes the slot, and does something else before the work is brought onto the site. */
async function publishWhile(site: Site, slot: number, meanwhile: () => Promise<unknown>) {
  fixture.around.set('publishSlot', async (act) => {
    await meanwhile();
    return await act();
  });
  return await fixture.publish(site, slot);
}

test.each(['source', 'content'] as const)(
  'a push to main of %s makes the publish draft_behind; no repository moves',
  async (repository) => {
    const { site, first, tips } = await prepared();
    let pushed: string[] = [];
    const answer = await publishWhile(site, 1, async () => {
      const at = repository === 'source' ? 'pushed.html' : 'posts/pushed.md';
      await fixture.write(site, 'main', { [at]: 'x' }, repository);
      pushed = (await heads(site)) as string[];
    });
    expect([answer.status, errorOf(answer).code]).toEqual([409, 'draft_behind']);
    expect(errorOf(answer).next_action).toContain(`POST /v1/sites/${site.id}/previews/1/update`);
    expect(await heads(site)).toEqual(pushed);
    expect(await heads(site, 'preview/1')).toEqual(tips);
    expect(await liveOf(site)).toBe(first.id);
    expect(await newest(site)).toMatchObject({ status: 'failed', error: { code: 'draft_behind' } });
    await fixture.update(site, 1);
    expect((await fixture.publish(site, 1)).body.status).toBe('live');
  },
);

test('a kill between the two repositories is repaired, also under later commits', async () => {
  const { site, tips } = await prepared();
  const [before] = await heads(site);
  const answer = await publishWhile(site, 1, async () => {
    await fixture.repositories.move(site.id, [
      { repository: 'source', branch: 'main', from: before ?? null, to: tips[0] ?? null },
    ]);
    await fixture.write(site, 'main', { 'upon.html': 'x' });
  });
  expect(answer.body).toMatchObject({ status: 'live', source_commit: tips[0], content_commit: tips[1] });
  expect((await heads(site))[1]).toBe(tips[1]);
  expect((await fixture.owner.call('GET', `/v1/sites/${site.id}`)).body.unpublished_changes).toEqual({
    source: true,
    content: false,
    address: false,
  });
});

test.each(['site', 'posts'])('a publish of the %s accepted after a slot’s publish includes its work', async (scope) => {
  const { site, tips } = await prepared();
  const { promise, resolve } = Promise.withResolvers<{ body: { id: string } }>();
  const answer = await publishWhile(site, 1, async () => {
    const headers = { prefer: 'respond-async' };
    resolve(await fixture.owner.call('POST', `/v1/sites/${site.id}/publish`, { body: { scope }, headers }));
  });
  expect(['live', 'retired', 'superseded']).toContain(answer.body.status);
  const { id } = (await promise).body;
  await expect.poll(() => liveOf(site), { timeout: 20_000 }).toBe(id);
  expect(await heads(site)).toEqual(tips);
  const { body } = await fixture.owner.call('GET', `/v1/deployments/${id}`);
  expect([body.source_commit, body.content_commit]).toEqual(tips);
});

test('a restore accepted after the slot’s publish wins, and the slot keeps its work', async () => {
  const { site, first, tips } = await prepared();
  const answer = await publishWhile(site, 1, () => fixture.owner.call('POST', `/v1/deployments/${first.id}/restore`));
  expect([answer.status, answer.body]).toMatchObject([200, { status: 'superseded', superseded_by: first.id }]);
  expect(await heads(site)).not.toEqual(tips);
  expect(await liveOf(site)).toBe(first.id);
  expect((await fixture.read(site, 1)).body).toMatchObject({ status: 'draft', holds_work: true });
});

test('clearing a slot during its publish needs discard, and loses no promised work', async () => {
  const { site, tips } = await prepared();
  const refused: unknown[] = [];
  const answer = await publishWhile(site, 1, async () => {
    refused.push(errorOf(await fixture.clear(site, 1)).code);
    expect((await fixture.clear(site, 1, '?discard=true')).status).toBe(200);
  });
  expect(refused).toEqual(['preview_holds_work']);
  expect(answer.body).toMatchObject({ status: 'live', source_commit: tips[0], content_commit: tips[1] });
  expect(await heads(site)).toEqual(tips);
  expect(await heads(site, 'preview/1')).toEqual([null, null]);
  expect((await fixture.read(site, 1)).body).toMatchObject({ status: 'empty', holds_work: false });
});

test('work added during a slot’s publish stays in the slot, and is published next', async () => {
  const { site, tips } = await prepared();
  const answer = await publishWhile(site, 1, async () => {
    await fixture.write(site, 'preview/1', { 'later.html': 'x' });
    expect((await fixture.build(site, 1)).body.status).toBe('draft');
  });
  expect(answer.body).toMatchObject({ status: 'live', source_commit: tips[0] });
  expect((await fixture.read(site, 1)).body).toMatchObject({ status: 'draft', holds_work: true, behind: false });
  expect((await fixture.publish(site, 1)).body.status).toBe('live');
  expect(await heads(site)).toEqual(await heads(site, 'preview/1'));
});

test('archiving the site ends a slot’s publish, and the slot keeps its work', async () => {
  const { site, first, tips } = await prepared();
  const answer = await publishWhile(site, 1, () => fixture.owner.call('POST', `/v1/sites/${site.id}/archive`));
  expect(answer.body.status).toBe('cancelled');
  expect(await heads(site)).not.toEqual(tips);
  await fixture.owner.call('POST', `/v1/sites/${site.id}/unarchive`);
  expect(await liveOf(site)).toBe(first.id);
  expect((await fixture.publish(site, 1)).body.status).toBe('live');
  expect(await heads(site)).toEqual(tips);
});

test('of two concurrent slots one is published, and the other keeps its work', async () => {
  const { site } = await prepared(1);
  await fill(site, 2);
  const answers = await Promise.all([fixture.publish(site, 1), fixture.publish(site, 2)]);
  const ends = answers.map((answer) => (answer.status === 200 ? answer.body.status : errorOf(answer).code));
  expect(ends).toContain('live');
  const lost = ends.indexOf('live') === 0 ? 2 : 1;
  // Behind what was brought onto the site first, or overtaken where that was accepted later.
  expect(['draft_behind', 'superseded']).toContain(ends[lost - 1]);
  expect((await fixture.read(site, lost)).body).toMatchObject({ holds_work: true, behind: true });
});

test('a publish repeated concurrently runs once', async () => {
  const { site } = await prepared();
  const answers = await Promise.all(Array.from({ length: 6 }, () => fixture.publish(site, 1)));
  const ids = answers.flatMap(({ status, body }) => (status === 200 ? [body.id] : []));
  expect(new Set(ids).size).toBe(1);
  const refused = answers.filter(({ status }) => status !== 200).map((answer) => errorOf(answer).code);
  expect(new Set([...refused, 'slot_not_branched'])).toEqual(new Set(['slot_not_branched']));
});

test('builds and publishes without a workflow are restarted or failed, visibly in the slot', async () => {
  const em = fixture.deps.em();
  const release = fixture.copying.hold();
  const site = await fixture.newSite();
  await fixture.owner.call('POST', path(site, 1), { headers: { prefer: 'wait=1' } });
  const { id } = await newest(site);
  await fixture.deps.temporal.workflow.getHandle(workflowIds.buildPreview(id)).terminate('a test');
  await em.execute(`update deployment set created_at = created_at - interval '5 minutes' where id = ?`, [id]);
  const run = { workflowId: `reconcile:${id}`, taskQueue: 'platform', args: [] };
  expect(await fixture.deps.temporal.workflow.execute('reconcile', run)).toEqual({ restarted: 0, failed: 1 });
  release();
  expect(await newest(site)).toMatchObject({ id, status: 'failed', error: { code: 'internal' } });
  const { body } = await fixture.read(site, 1);
  expect(body).toMatchObject({ status: 'empty', next_action: expect.stringContaining(`GET /v1/deployments/${id}`) });
  expect((await fixture.build(site, 1)).body.status).toBe('draft');
});

test('a draft whose site is archived during its build is not stored', async () => {
  const site = await fixture.newSite();
  fixture.around.set('buildSite', async (act) => {
    await fixture.owner.call('POST', `/v1/sites/${site.id}/archive`);
    return await act();
  });
  expect((await fixture.build(site, 1)).body).toMatchObject({ status: 'empty', address: null });
});
