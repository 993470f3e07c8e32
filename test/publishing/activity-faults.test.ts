/**
 * Each activity of publishing and reconciling fails before its effect or after it, runs again after its report, or runs twice at once. The
 * database then has the same rows as after a run without faults. A new activity without an entry here fails a test.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { WorkflowFailedError } from '@temporalio/client';
import { afterAll, afterEach, expect, test } from 'vitest';
import { createBuildActivities, createPlatformActivities } from '#activities/index.ts';
import type { BuildOutcome, BuildRequest, Sandbox } from '#providers/sandbox/sandbox.ts';
import { workflowIds } from '#rules/workflow-ids.ts';
import { newId } from '#runtime/ids.ts';
import { createFixture, createSite } from '#test/api/fixture.ts';
import { aroundActivities, createNamespace, startWorker } from '#test/stack/worker.ts';
import { activityFaults, faultsOf } from './activity-faults.ts';
import { recordMoves } from './recorded-moves.ts';

const { around, interceptors } = aroundActivities();
afterEach(() => around.clear());

/** A sandbox that needs no time. What the real one does is shown in test/sandbox; here the rows are counted. */
const sandbox = {
  kind: 'docker',
  image: 'quick',
  outcome: 'built' as 'built' | 'failed' | 'never',
  orphans: new Set<string>(),
  async build({ source, onLog, onFile, onBuilt, signal }: BuildRequest): Promise<BuildOutcome> {
    source.resume();
    onLog('building\n');
    if (sandbox.outcome === 'failed') return { status: 'failed', code: 'build_failed', message: 'It does not build.' };
    if (sandbox.outcome === 'never')
      await new Promise((_, stop) => signal.addEventListener('abort', () => stop(signal.reason)));
    await onFile({ path: 'index.html', bytes: 5, content: Readable.from([Buffer.from('hello')]) });
    await onBuilt?.({});
    return { status: 'built' };
  },
  async removeOrphanBuilds(isUnfinished: (id: string) => Promise<boolean>) {
    let removed = 0;
    for (const id of [...sandbox.orphans]) if (!(await isUnfinished(id)) && sandbox.orphans.delete(id)) removed += 1;
    return removed;
  },
  close: async () => {},
} satisfies Sandbox & Record<string, unknown>;

const fixture = await createFixture({ TEMPORAL_NAMESPACE: await createNamespace() });
const worker = await startWorker(fixture.deps, { sandbox: sandbox as Sandbox, interceptors });
afterAll(async () => {
  await worker.close();
  await fixture.close();
});
const owner = await fixture.newCaller();
const { column, movesOf, pointersOf } = await recordMoves(fixture.deps);
const sentTo = (id: string) =>
  column('select kind as value from outbox where workflow_id = ? order by id', [workflowIds.publishSite(id)]);

async function publish(site: { id: string }) {
  return await owner.call('POST', `/v1/sites/${site.id}/publish`, { body: {}, headers: { prefer: 'wait=50' } });
}

async function newestOf(site: { id: string }): Promise<string> {
  const { body } = await owner.call('GET', `/v1/sites/${site.id}/deployments`);
  return body.items[0].id;
}

async function goesLive(): Promise<void> {
  sandbox.outcome = 'built';
  const site = await createSite(owner);
  const { status, body } = await publish(site);
  expect({ status, is: body.status }).toEqual({ status: 200, is: 'live' });
  expect(await movesOf(body.id)).toEqual(['queued', 'building', 'storing', 'live']);
  expect(await pointersOf(site.id)).toEqual([body.id]);
  expect(await sentTo(body.id)).toEqual(['start']);
  // Visitors have it before the workflow has ended.
  await fixture.deps.temporal.workflow.getHandle(workflowIds.publishSite(body.id)).result();
  expect(await movesOf(body.id)).toHaveLength(4);
  expect(await fixture.deps.store.scratch.read(`${body.id}.tar`)).toBeUndefined();
}

async function fails(): Promise<void> {
  sandbox.outcome = 'failed';
  const site = await createSite(owner);
  const { status, body } = await publish(site);
  expect({ status, error: body.error }).toMatchObject({
    status: 422,
    error: { code: 'build_failed', detail: 'building\n' },
  });
  const id = await newestOf(site);
  expect(await movesOf(id)).toEqual(['queued', 'building', 'failed']);
  expect(await pointersOf(site.id)).toEqual([]);
}

/** A publish whose build never ends by itself. */
async function buildsOn() {
  sandbox.outcome = 'never';
  const site = await createSite(owner);
  const publishing = publish(site);
  const newest = async () => await movesOf(await newestOf(site).catch(() => ''));
  await expect.poll(newest, { timeout: 30_000, interval: 20 }).toContain('building');
  return { id: await newestOf(site), site, publishing };
}

async function isCancelled(): Promise<void> {
  const { id, site, publishing } = await buildsOn();
  await fixture.deps.temporal.workflow.getHandle(workflowIds.publishSite(id)).cancel();
  expect((await publishing).body.status).toBe('cancelled');
  expect(await movesOf(id)).toEqual(['queued', 'building', 'cancelled']);
  expect(await pointersOf(site.id)).toEqual([]);
}

/** Runs a schedule's workflow, and once more where it failed, as the schedule would. */
async function runSchedule(type: string): Promise<unknown> {
  const run = () =>
    fixture.deps.temporal.workflow.execute(type, {
      workflowId: `run:${randomUUID()}`,
      taskQueue: 'platform',
      args: [],
    });
  return await run().catch((error) => {
    if (!(error instanceof WorkflowFailedError)) throw error;
    return run();
  });
}

async function isStartedAgain(): Promise<void> {
  const { id, site, publishing } = await buildsOn();
  await fixture.deps.temporal.workflow.getHandle(workflowIds.publishSite(id)).terminate('a test');
  await fixture.deps
    .em()
    .execute(`update deployment set created_at = created_at - interval '5 minutes' where id = ?`, [id]);
  await runSchedule('reconcile');
  expect((await publishing).body.error).toMatchObject({ code: 'internal' });
  expect(fixture.takeUnexpected()).toHaveLength(1);
  expect(await movesOf(id)).toEqual(['queued', 'building', 'failed']);
  sandbox.outcome = 'built';
  expect((await publish(site)).body.status).toBe('live');
}

async function isSweptAway(): Promise<void> {
  const em = fixture.deps.em();
  const [old, young] = [newId('out'), newId('out')];
  for (const [id, age] of [
    [old, '8 days'],
    [young, '1 day'],
  ]) {
    await em.execute(
      `insert into outbox (id, kind, workflow_id, message, created_at, sent_at) values (?, 'cancel', 'none', '{}', now(), now() - ?::interval)`,
      [id, age],
    );
  }
  await runSchedule('sweep');
  expect(await column('select id as value from outbox where id in (?, ?)', [old, young])).toEqual([young]);
}

async function isRemoved(): Promise<void> {
  const { id, publishing } = await buildsOn();
  sandbox.orphans = new Set([id, 'dep_gone']);
  await runSchedule('sweepOrphans');
  expect([...sandbox.orphans]).toEqual([id]);
  await fixture.deps.temporal.workflow.getHandle(workflowIds.publishSite(id)).cancel();
  await publishing;
}

/** What a run looks like in which the activity has its part. */
const entries: Record<string, () => Promise<void>> = {
  claimBuild: goesLive,
  snapshotSource: goesLive,
  buildSite: goesLive,
  putLive: goesLive,
  failPublish: fails,
  cancelPublish: isCancelled,
  reconcileDeployments: isStartedAgain,
  sweepRows: isSweptAway,
  sweepFiles: isSweptAway,
  sweepSandbox: isRemoved,
};

/** Activities that are no step of publishing, and the test of their workflow. */
const elsewhere: Record<string, string> = {
  sendMail: 'mail/mail',
  giveUpMail: 'mail/mail',
  reconcileMails: 'mail/mail',
  settleAccess: 'people/access-requests',
  settleInvitation: 'invitations/invitations',
  putDraft: 'previews/activity-faults',
  publishSlot: 'previews/activity-faults',
  settlePreview: 'previews/expiry',
  settleHold: 'bookings/holds',
  settlePayment: 'payments/activity-faults',
  giveBackCharge: 'payments/activity-faults',
  giveUpRefund: 'payments/activity-faults',
  checkLedger: 'payments/activity-faults',
  settleOffer: 'payouts/ending',
  askForPayoutAccounts: 'payouts/asking',
  askAboutSubscription: 'billing/activity-faults',
  askLateSubscriptions: 'billing/webhooks',
  rollUpViews: 'analytics/queries',
  maintainRepositories: 'git/maintenance',
  queueOwnerMails: 'mail/weekly-summary',
  settleDomain: 'domains/activity-faults',
  settleSiteDeletion: 'deletion/purge',
  detachSite: 'deletion/purge',
  collectSiteFiles: 'deletion/purge',
  forgetSite: 'deletion/purge',
  removeSiteRepositories: 'deletion/purge',
  removeSiteFiles: 'deletion/purge',
  finishSitePurge: 'deletion/purge',
  endAccountMoney: 'deletion/account',
  settleAccountDeletion: 'deletion/account',
  forgetAccount: 'deletion/account',
  finishAccountPurge: 'deletion/account',
  forgetDomain: 'domains/activity-faults',
  renewCertificate: 'certificates/getting',
  renewOwnCertificate: 'certificates/getting',
  scanFiles: 'scanning/scanning',
  giveUpScan: 'scanning/scanning',
  giveUpRendering: 'renderings/asking',
};

test('every activity has its entry', () => {
  const activities = {
    ...createPlatformActivities(fixture.deps),
    ...createBuildActivities({ ...fixture.deps, sandbox: sandbox as Sandbox }),
  };
  expect([...Object.keys(entries), ...Object.keys(elsewhere)].sort()).toEqual(Object.keys(activities).sort());
  const files = Object.values(elsewhere).map((file) => join(import.meta.dirname, '..', `${file}.test.ts`));
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
});

const cases = Object.entries(entries).flatMap(([activity, run], at) =>
  faultsOf(at).map((fault) => ({ activity, fault, run })),
);
test.each(cases)(
  '$activity $fault: the rows are those of one run',
  { timeout: 60_000 },
  async ({ activity, fault, run }) => {
    around.set(activity, activityFaults[fault]);
    await run();
    expect(around.size).toBe(0);
  },
);
