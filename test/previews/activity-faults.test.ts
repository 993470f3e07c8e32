/**
 * Each activity of a draft's build and of a preview's publish fails before its effect or after it, runs again after its report, or runs
 * twice at once. The database and both repositories are then the same as after a run without faults.
 */
import { afterAll, afterEach, expect, test } from 'vitest';
import { workflowIds } from '#rules/workflow-ids.ts';
import { activityFaults, faultsOf } from '#test/publishing/activity-faults.ts';
import { recordMoves } from '#test/publishing/recorded-moves.ts';
import { createPreviewFixture, draftPost } from './fixture.ts';

const fixture = await createPreviewFixture();
afterAll(() => fixture.close());
afterEach(() => fixture.around.clear());
const { column, movesOf, pointersOf } = await recordMoves(fixture.deps);

const steps = ['claimBuild', 'snapshotSource', 'buildSite', 'putDraft', 'publishSlot'];
const cases = steps.flatMap((activity, at) => faultsOf(at).map((fault) => ({ activity, fault })));

test.each(cases)(
  '$activity $fault: rows and repositories are those of one run',
  { timeout: 60_000 },
  async ({ activity, fault }) => {
    fixture.around.set(activity, activityFaults[fault]);
    const site = await fixture.newSite();
    const source = await fixture.write(site, 'preview/1', { 'a.html': 'A' });
    const posts = { 'posts/plans.md': draftPost('secret'), 'posts/b.md': '---\ntitle: B\n---\n' };
    const content = await fixture.write(site, 'preview/1', posts, 'content');
    const { body: slot } = await fixture.build(site, 1);
    const { body: live } = await fixture.publish(site, 1);
    expect(fixture.around.size).toBe(0);

    expect([slot.status, live.status]).toEqual(['draft', 'live']);
    expect(await movesOf(slot.deployment_id)).toEqual(['queued', 'building', 'storing', 'ready']);
    expect(await movesOf(live.id)).toEqual(['queued', 'live']);
    expect((await pointersOf(site.id)).filter(Boolean)).toEqual([live.id]);
    expect(await column('select id as value from preview where site_id = ?', [site.id])).toHaveLength(1);
    for (const [repository, commit] of [
      ['source', source],
      ['content', content],
    ] as const) {
      expect(await fixture.repositories.head(site.id, repository)).toBe(commit);
    }
    await fixture.deps.temporal.workflow.getHandle(workflowIds.buildPreview(slot.deployment_id)).result();
    for (const name of [`${slot.deployment_id}.tar`, `${slot.deployment_id}.drafts.tar`]) {
      expect(await fixture.deps.store.scratch.read(name)).toBeUndefined();
    }
  },
);
