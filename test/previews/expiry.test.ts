/** Drafts are kept for 14 days after their build, then marked for removal, then removed; and an archived site shows none. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { settlePreview } from '#db/previews/transitions.ts';
import { previewMarkedMs } from '#rules/states.ts';
import { workflowIds } from '#rules/workflow-ids.ts';
import { errorOf } from '#test/api/fixture.ts';
import { createPreviewFixture, type PreviewFixture, type Site } from './fixture.ts';

let fixture: PreviewFixture;
beforeAll(async () => {
  fixture = await createPreviewFixture();
}, 60_000);
afterAll(() => fixture?.close());

const dayMs = 24 * 3600_000;
const codeOf = async (answer: Promise<{ status: number; body: unknown }>) => {
  const got = await answer;
  return got.status === 200 ? 'answered' : errorOf(got as never).code;
};
const idsOf = async (site: Site): Promise<string[]> => {
  const rows: { id: string }[] = await fixture.deps
    .em()
    .execute('select id from preview where site_id = ? order by id', [site.id]);
  return rows.map(({ id }) => id);
};
const workflowOf = (previewId: string) =>
  fixture.deps.temporal.workflow.getHandle(workflowIds.expirePreview(previewId));
/** As the workflow's own timer would: the engine's clock cannot be moved, and the rows are judged by ours. */
const wake = (previewId: string) => workflowOf(previewId).signal('moved');

async function withWork(): Promise<{ site: Site; address: string; tip: string }> {
  const site = await fixture.newSite();
  const tip = await fixture.write(site, 'preview/1', { 'a.html': '<body>Work</body>' });
  const { body } = await fixture.build(site, 1);
  await expect.poll(async () => (await fixture.visit(body.address, '/a')).status).toBe(200);
  return { site, address: body.address, tip };
}

test('drafts expire 14 days after their last build, and are removed a week later', async () => {
  const { site, address, tip } = await withWork();
  await fixture.skip(10 * dayMs);
  const { body: rebuilt } = await fixture.build(site, 1);
  expect(new Date(rebuilt.expires_at).getTime()).toBeGreaterThan(fixture.clock.now().getTime() + 13.9 * dayMs);
  await fixture.skip(13.9 * dayMs);
  expect((await fixture.read(site, 1)).body).toMatchObject({ status: 'draft', address });
  expect((await fixture.visit(address, '/a')).status).toBe(200);

  await fixture.skip(0.2 * dayMs);
  const { body: expired } = await fixture.read(site, 1);
  expect(expired).toMatchObject({ status: 'expired', address: null, branched: true, holds_work: true });
  expect(expired.next_action).toContain('POST');
  expect((await fixture.visit(address, '/a')).status).toBe(410);
  for (const act of [fixture.update, fixture.publish]) {
    const answer = await act(site, 1);
    expect([answer.status, errorOf(answer).code]).toEqual([410, 'preview_expired']);
  }

  const [id = ''] = await idsOf(site);
  expect(await settlePreview(fixture.deps.em(), fixture.clock.now(), id)).toMatchObject({
    settled: false,
    status: 'expired',
  });
  await fixture.skip(previewMarkedMs);
  expect((await fixture.read(site, 1)).body).toMatchObject({ status: 'empty', branched: true, holds_work: true });
  expect(await codeOf(fixture.publish(site, 1))).toBe('slot_empty');
  await wake(id);
  expect(await workflowOf(id).result()).toEqual({ status: 'removed' });
  await expect.poll(async () => (await fixture.visit(address, '/a')).status).toBe(404);
  // What was pushed is nobody's to remove.
  expect(await fixture.repositories.head(site.id, 'source', 'preview/1')).toBe(tip);
});

test('an expired slot is rebuilt on another host, and the old one stays closed', async () => {
  const { site, address } = await withWork();
  await fixture.skip(15 * dayMs);
  const { body } = await fixture.build(site, 1);
  expect(body).toMatchObject({ status: 'draft', holds_work: true });
  expect(body.address).not.toBe(address);
  const [old = ''] = await idsOf(site);
  expect(await workflowOf(old).result()).toEqual({ status: 'removed' });
  await expect.poll(async () => (await fixture.visit(address, '/a')).status).toBe(404);
  await expect.poll(async () => (await fixture.visit(body.address, '/a')).status).toBe(200);
});

test('the sweep records a removal that no workflow recorded', async () => {
  const { site } = await withWork();
  const [id = ''] = await idsOf(site);
  await workflowOf(id).terminate('a test');
  await fixture.skip(22 * dayMs);
  const removed = 'select removed_at is not null as done from preview where id = ?';
  expect(await fixture.deps.em().execute(removed, [id])).toEqual([{ done: false }]);
  await fixture.deps.temporal.workflow.execute('sweep', { workflowId: `sweep:${id}`, taskQueue: 'platform', args: [] });
  expect(await fixture.deps.em().execute(removed, [id])).toEqual([{ done: true }]);
});

test('an archived site shows and builds no draft, and continues when unarchived', async () => {
  const { site, address } = await withWork();
  const release = fixture.copying.hold();
  await fixture.write(site, 'preview/1', { 'b.html': 'x' });
  await fixture.owner.call('POST', `/v1/sites/${site.id}/previews/1`, { headers: { prefer: 'respond-async' } });
  await fixture.owner.call('POST', `/v1/sites/${site.id}/archive`);
  release();
  const { body } = await fixture.owner.call('GET', `/v1/sites/${site.id}/deployments`);
  expect(body.items[0]).toMatchObject({ kind: 'preview', status: 'cancelled' });
  await expect.poll(async () => (await fixture.visit(address, '/a')).status).toBe(410);
  for (const act of [fixture.build, fixture.update, fixture.publish, fixture.clear]) {
    expect(await codeOf(act(site, 1))).toBe('site_archived');
  }
  expect((await fixture.read(site, 1)).body.status).toBe('draft');
  await fixture.owner.call('POST', `/v1/sites/${site.id}/unarchive`);
  await expect.poll(async () => (await fixture.visit(address, '/a')).status).toBe(200);
});

describe('a build that outlasts the previous draft', () => {
  /** A slot that is built again on its last day; the build ends after `days`, before which `meanwhile` happens. */
  async function outlasting(days: number, meanwhile: (site: Site, id: string) => Promise<unknown> = async () => {}) {
    const { site, address } = await withWork();
    await fixture.skip(13.9 * dayMs);
    const release = fixture.copying.hold();
    await fixture.write(site, 'preview/1', { 'a.html': '<body>Later work</body>' });
    await fixture.owner.call('POST', `/v1/sites/${site.id}/previews/1`, { headers: { prefer: 'respond-async' } });
    const [id = ''] = await idsOf(site);
    await fixture.skip(days * dayMs);
    await meanwhile(site, id);
    release();
    const settled = async () => (await fixture.owner.call('GET', `/v1/sites/${site.id}/deployments`)).body.items[0];
    await expect.poll(async () => (await settled()).status, { timeout: 20_000 }).not.toMatch(/queued|building|storing/);
    return { site, address, slot: (await fixture.read(site, 1)).body };
  }

  test('by hours gets its 14 days in the same slot', async () => {
    const { slot, address } = await outlasting(0.2);
    expect(slot).toMatchObject({ status: 'draft', address });
    const left = new Date(slot.expires_at).getTime() - fixture.clock.now().getTime();
    expect(left / dayMs).toBeCloseTo(14, 3);
    await fixture.isServed(address, '/a', 'Later work');
  });

  async function writtenDown(_site: Site, id: string) {
    await wake(id);
    await workflowOf(id).result();
  }
  test.each([
    ['without a record', undefined],
    ['with a record', writtenDown],
  ])('by the removal %s starts on another host', async (_, meanwhile) => {
    const { site, slot, address } = await outlasting(8, meanwhile);
    expect(slot).toMatchObject({ status: 'draft' });
    expect(slot.address).not.toBe(address);
    await fixture.isServed(slot.address, '/a', 'Later work');
    expect((await fixture.visit(address, '/a')).status).toBe(404);
    const [old = '', present = ''] = await idsOf(site);
    expect(await workflowOf(old).result()).toEqual({ status: 'removed' });
    expect((await workflowOf(present).describe()).status.name).toBe('RUNNING');
  });

  test('yields to a draft requested after the removal', async () => {
    const { slot, site } = await outlasting(8, async (site, id) => {
      await writtenDown(site, id);
      await fixture.write(site, 'preview/1', { 'a.html': '<body>Latest work</body>' });
      const headers = { prefer: 'respond-async' };
      expect((await fixture.owner.call('POST', `/v1/sites/${site.id}/previews/1`, { headers })).status).toBe(200);
    });
    await expect.poll(async () => (await fixture.read(site, 1)).body.status, { timeout: 20_000 }).toBe('draft');
    await fixture.isServed((await fixture.read(site, 1)).body.address, '/a', 'Latest work');
    const { body } = await fixture.owner.call('GET', `/v1/sites/${site.id}/deployments`);
    expect(body.items.map(({ status }: { status: string }) => status)).toEqual(['ready', 'superseded', 'ready']);
    expect(slot.slot).toBe(1);
  });
});
