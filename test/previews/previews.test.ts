/** Preview slots over the wire, with builds that copy: what a slot is, and what is in it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorOf } from '#test/api/fixture.ts';
import { connect } from '#test/mcp/fixture.ts';
import { createPreviewFixture, type PreviewFixture, page, path } from './fixture.ts';

let fixture: PreviewFixture;
beforeAll(async () => {
  fixture = await createPreviewFixture();
}, 60_000);
afterAll(() => fixture.close());

describe('a slot', () => {
  test('is empty, then has drafts of the site and its own work, until cleared', async () => {
    const site = await fixture.newSite();
    expect((await fixture.read(site, 1)).body).toEqual({
      slot: 1,
      status: 'empty',
      branched: false,
      behind: false,
      holds_work: false,
      address: null,
      deployment_id: null,
      build_id: null,
      expires_at: null,
      failed_deployment_id: null,
    });
    const { body: first } = await fixture.build(site, 1);
    expect(first).toMatchObject({ status: 'draft', branched: false, behind: false, holds_work: false });
    await fixture.write(site, 'preview/1', { 'new.html': page('Of the slot') });
    const { body: pushed } = await fixture.read(site, 1);
    expect(pushed.next_action).toMatch(/commits that are not in the draft.*POST .*\/previews\/1\.$/);
    const { body: built } = await fixture.build(site, 1);
    expect(built).toMatchObject({ status: 'draft', branched: true, behind: false, holds_work: true });
    expect(built).not.toHaveProperty('next_action');
    expect(built.address).toBe(first.address);
    expect(built.deployment_id).not.toBe(first.deployment_id);
    await fixture.isServed(built.address, '/new', 'Of the slot');
    expect((await fixture.visit(site, '/new')).status).toBe(404);
    const cleared = await fixture.clear(site, 1, '?discard=true');
    expect(cleared.body).toMatchObject({ status: 'empty', branched: false, holds_work: false, address: null });
    await expect.poll(async () => (await fixture.visit(built.address, '/new')).status).toBe(404);
    const again = await fixture.build(site, 1);
    expect(again.body.address).not.toBe(built.address);
  });

  test('is one of the plan’s slots, which are listed with their contents', async () => {
    const site = await fixture.newSite();
    await fixture.build(site, 3);
    const { body } = await fixture.owner.call('GET', `/v1/sites/${site.id}/previews`);
    expect(body.items.map(({ slot, status }: { slot: number; status: string }) => [slot, status])).toEqual([
      [1, 'empty'],
      [2, 'empty'],
      [3, 'draft'],
      [4, 'empty'],
      [5, 'empty'],
    ]);
    for (const slot of [0, 6, -1, '01', '1e0', 'x', '99999', '%20']) {
      for (const [method, act] of [
        ['GET', ''],
        ['POST', ''],
        ['POST', '/update'],
        ['POST', '/publish'],
        ['DELETE', ''],
      ] as const) {
        const answer = await fixture.owner.call(method, path(site, slot, act));
        expect([slot, method, answer.status, errorOf(answer).code]).toEqual([slot, method, 400, 'invalid_slot']);
      }
    }
  });

  test('that is empty is slot_empty for every action', async () => {
    const site = await fixture.newSite();
    for (const act of [fixture.update, fixture.publish, fixture.clear]) {
      const answer = await act(site, 2);
      expect([answer.status, errorOf(answer).code]).toEqual([409, 'slot_empty']);
    }
  });

  test('whose first draft is building is preview_empty, and can be cleared', async () => {
    const site = await fixture.newSite();
    const release = fixture.copying.hold();
    const asked = await fixture.owner.call('POST', path(site, 1), { headers: { prefer: 'respond-async' } });
    expect(asked.body).toMatchObject({ status: 'building', address: null, deployment_id: null });
    expect(asked.body.next_action).toContain(`GET ${path(site, 1)}`);
    for (const act of [fixture.update, fixture.publish]) {
      const answer = await act(site, 1);
      expect([answer.status, errorOf(answer).code]).toEqual([409, 'preview_empty']);
    }
    expect((await fixture.clear(site, 1)).body.status).toBe('empty');
    release();
    const { body } = await fixture.owner.call('GET', `/v1/sites/${site.id}/deployments`);
    expect(body.items[0]).toMatchObject({ kind: 'preview', status: 'cancelled' });
  });

  test('without its own branch is slot_not_branched for update and publish', async () => {
    const site = await fixture.newSite();
    await fixture.build(site, 1);
    for (const act of [fixture.update, fixture.publish]) {
      const answer = await act(site, 1);
      expect([answer.status, errorOf(answer).code]).toEqual([409, 'slot_not_branched']);
    }
  });

  test('whose build fails has the reason, and keeps serving the previous draft', async () => {
    const site = await fixture.newSite();
    const { body: built } = await fixture.build(site, 1);
    await fixture.write(site, 'preview/1', { 'src/pages/broken.html': 'x' });
    const failed = await fixture.build(site, 1);
    expect([failed.status, errorOf(failed).code, errorOf(failed).detail]).toEqual([422, 'build_failed', 'copying\n']);
    expect(errorOf(failed).next_action).toContain(`POST ${path(site, 1)}`);
    const { body } = await fixture.read(site, 1);
    expect(body).toMatchObject({ status: 'draft', deployment_id: built.deployment_id, address: built.address });
    expect(body.next_action).toContain(`GET /v1/deployments/${body.failed_deployment_id}`);
    // Who follows the build over the tools is told why by itself.
    const agent = await connect(fixture.url, fixture.owner.token);
    const followed = await agent.call('preview_build', { id: site.id, slot: '1' }, () => {});
    expect(followed.error).toMatchObject({ code: 'build_failed', detail: 'copying\n' });
    await agent.close();
    await fixture.write(site, 'preview/1', { 'src/pages/broken.html': null });
    expect((await fixture.build(site, 1)).body.failed_deployment_id).toBe(null);
  });

  test('is built once for concurrent calls, and a newer commit supersedes the build', async () => {
    const site = await fixture.newSite();
    const release = fixture.copying.hold();
    const async = { headers: { prefer: 'respond-async' } };
    await fixture.owner.call('POST', path(site, 1), async);
    await fixture.owner.call('POST', path(site, 1), async);
    const list = async () => (await fixture.owner.call('GET', `/v1/sites/${site.id}/deployments`)).body.items;
    expect(await list()).toHaveLength(1);
    await fixture.write(site, 'preview/1', { 'a.html': page('Newer') });
    await fixture.owner.call('POST', path(site, 1), async);
    const [newer, older] = await list();
    expect(older).toMatchObject({ status: 'superseded', superseded_by: newer.id });
    release();
    await expect.poll(async () => (await fixture.read(site, 1)).body.status, { timeout: 20_000 }).toBe('draft');
    expect((await fixture.read(site, 1)).body.deployment_id).toBe(newer.id);
  });
});

describe('clearing', () => {
  test('unpublished work is preview_holds_work without discard', async () => {
    const site = await fixture.newSite();
    const tip = await fixture.write(site, 'preview/1', { 'a.html': page('Work') });
    await fixture.build(site, 1);
    const kept = await fixture.clear(site, 1);
    expect([kept.status, errorOf(kept).code]).toEqual([409, 'preview_holds_work']);
    expect(errorOf(kept).next_action).toContain('discard=true');
    expect(await fixture.repositories.head(site.id, 'source', 'preview/1')).toBe(tip);
    expect((await fixture.clear(site, 1, '?discard=true')).body).toMatchObject({ status: 'empty', branched: false });
    expect(await fixture.repositories.head(site.id, 'source', 'preview/1')).toBe(null);
    expect(errorOf(await fixture.clear(site, 1)).code).toBe('slot_empty');
  });

  test('work that was pushed and never built is preview_holds_work too', async () => {
    const site = await fixture.newSite();
    const tip = await fixture.write(site, 'preview/1', { 'unbuilt.html': 'x' });
    const kept = await fixture.clear(site, 1);
    expect([kept.status, errorOf(kept).code]).toEqual([409, 'preview_holds_work']);
    expect(await fixture.repositories.head(site.id, 'source', 'preview/1')).toBe(tip);
    expect((await fixture.clear(site, 1, '?discard=true')).status).toBe(200);
    expect(await fixture.repositories.head(site.id, 'source', 'preview/1')).toBeNull();
  });

  test('a slot that was published needs no discard', async () => {
    const site = await fixture.newSite();
    await fixture.write(site, 'preview/1', { 'a.html': page('Work') });
    await fixture.build(site, 1);
    await fixture.publish(site, 1);
    expect((await fixture.clear(site, 1)).body).toMatchObject({ status: 'empty', branched: false });
    expect((await fixture.visit(site, '/a')).status).toBe(200);
  });
});
