/**
 * Each activity of a draft's build and of a preview's publish fails before its effect or after it, runs again after its report, or runs
 * twice at once. The database and both repositories are then the same as after a run without faults.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { workflowIds } from '#rules/workflow-ids.ts';
import { type ActivityFault, activityFaults } from '#test/publishing/activity-faults.ts';
import { createPreviewFixture, draftPost, type PreviewFixture } from './fixture.ts';

let fixture: PreviewFixture;
beforeAll(async () => {
  fixture = await createPreviewFixture();
  await fixture.deps.em().execute(`
    create table move (at serial, deployment_id text, status text);
    create function note_move() returns trigger language plpgsql as $$
      begin insert into move (deployment_id, status) values (new.id, new.status); return null; end $$;
    create trigger note_move after insert or update of status on deployment for each row execute function note_move();
    create table pointer (at serial, site_id text, deployment_id text);
    create function note_pointer() returns trigger language plpgsql as $$
      begin insert into pointer (site_id, deployment_id) values (new.id, new.live_deployment_id); return null; end $$;
    create trigger note_pointer after update of live_deployment_id on site
      for each row when (old.live_deployment_id is distinct from new.live_deployment_id) execute function note_pointer();
  `);
}, 60_000);
afterAll(() => fixture?.close());

const column = async (question: string, value: string): Promise<string[]> => {
  const rows: { value: string }[] = await fixture.deps.em().execute(question, [value]);
  return rows.map((row) => row.value);
};
const movesOf = (id: string) => column('select status as value from move where deployment_id = ? order by at', id);

const steps = ['claimBuild', 'snapshotSource', 'buildSite', 'putDraft', 'publishSlot'];
const cases = steps.flatMap((activity) =>
  Object.keys(activityFaults).map((fault) => ({ activity, fault: fault as ActivityFault })),
);

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
    expect(await column('select deployment_id as value from pointer where site_id = ? order by at', site.id)).toEqual([
      live.id,
    ]);
    expect(await column('select id as value from preview where site_id = ?', site.id)).toHaveLength(1);
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
