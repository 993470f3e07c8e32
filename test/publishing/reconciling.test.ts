/** Rows compared with workflows, with a real database and a real Temporal without workers. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reconciliationActivities } from '#activities/reconciliation.ts';
import { openAccount } from '#api/accounts/rules.ts';
import { recordBuilderPresence } from '#db/deployments/builder-capacity.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import { claimBuild } from '#db/deployments/queue.ts';
import { cancelUnfinished, goLive, markStoring, settle, takeTicket } from '#db/deployments/transitions.ts';
import { relayOutbox } from '#db/outbox.ts';
import { OutboxEntry } from '#db/outbox-entry.ts';
import { Site } from '#db/sites/site.ts';
import { workflowIds } from '#rules/workflow-ids.ts';
import { readConfig } from '#runtime/config.ts';
import { createDeps, type Deps } from '#runtime/deps.ts';
import { newId } from '#runtime/ids.ts';
import { runWithContext } from '#runtime/telemetry/context.ts';
import { builder } from '#test/api/fixture.ts';
import { acceptedPublish } from '#test/publishing/acceptance.ts';
import { createTestDatabase, type TestDatabase, temporalAddress } from '#test/stack/database.ts';

let database: TestDatabase;
let deps: Deps & { close(): Promise<void> };
let accountId: string;
const clock = { time: new Date('2026-05-01T10:00:00Z'), now: () => clock.time };

beforeAll(async () => {
  database = await createTestDatabase();
  const config = readConfig({
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporalAddress(),
    FRONTAGE_SECRET: 'x'.repeat(32),
    FRONTAGE_LOG_LEVEL: 'silent',
  });
  deps = createDeps(config, { name: 'test', clock });
  await recordBuilderPresence(deps.em(), clock, builder);
  accountId = (await openAccount(deps.em(), clock, { email: 'a@example.com', name: 'A' })).id;
});
afterAll(async () => {
  await deps.close();
  await database.drop();
});

async function newSite(): Promise<string> {
  const em = deps.em();
  const id = newId('site');
  const name = `s-${randomUUID()}`;
  em.create(Site, {
    id,
    name,
    account: accountId,
    title: 'T',
    template: 'blank',
    status: 'active',
    publicId: name,
    createdAt: clock.now(),
  });
  await em.flush();
  return id;
}

async function accept(siteId: string, kind: 'site' | 'posts' = 'site'): Promise<string> {
  const publish = { siteId, kind, createdBy: accountId, contentCommit: 'a'.repeat(40) };
  return (await acceptedPublish(deps, publish)).id;
}

const read = (id: string) => deps.em().findOneOrFail(Deployment, { id });
const built = (id: string) =>
  deps.em().nativeUpdate(Deployment, { id }, { manifestSha256: 'f'.repeat(64), fileCount: 1, totalBytes: 1 });
const running = async (id: string) =>
  (await deps.temporal.workflow.getHandle(workflowIds.publishSite(id)).describe()).status.name;

test('an accepted publish is a row and a message in one transaction, sent once', async () => {
  const id = await accept(await newSite());
  await Promise.all([relayOutbox(deps), relayOutbox(deps), relayOutbox(deps)]);
  expect(await running(id)).toBe('RUNNING');
  const sent = await deps.em().find(OutboxEntry, { workflowId: workflowIds.publishSite(id) });
  expect(sent.map(({ attempts, sentAt }) => ({ attempts, sent: sentAt !== null }))).toEqual([
    { attempts: 1, sent: true },
  ]);
});

test('unfinished publishes without a workflow are restarted, those with an ended one are failed', async () => {
  const lost = await accept(await newSite());
  await deps.em().nativeUpdate(OutboxEntry, { workflowId: workflowIds.publishSite(lost) }, { sentAt: clock.now() });
  const dead = await accept(await newSite());
  await relayOutbox(deps);
  await deps.temporal.workflow.getHandle(workflowIds.publishSite(dead)).terminate('a test');
  const reconciling = reconciliationActivities(deps);
  clock.time = new Date(clock.time.getTime() + 120_000);
  expect(await reconciling.reconcileDeployments()).toEqual({ restarted: 1, failed: 1 });
  await relayOutbox(deps);
  expect(await running(lost)).toBe('RUNNING');
  expect(await read(dead)).toMatchObject({ status: 'failed', error: { code: 'internal', retryable: true } });
  expect(await reconciling.reconcileDeployments()).toEqual({ restarted: 0, failed: 0 });
});

test('a lost publish is found behind more waiting ones than a round checks', async () => {
  const ids = Array.from({ length: 1_000 }, () => newId('dep'));
  const site = await newSite();
  await deps.em().execute(
    `insert into deployment (id, site_id, number, kind, status, ticket, site_url, created_by_id, created_at, slot)
     select id, ?, 1000 + number, 'draft', 'queued', 0, 'http://h', ?, ?, number from unnest(?::text[]) with ordinality as one (id, number)`,
    [site, accountId, new Date(clock.time.getTime() - 60_000), `{${ids.join(',')}}`],
  );
  const lost = await accept(await newSite());
  await deps.em().nativeUpdate(OutboxEntry, { workflowId: workflowIds.publishSite(lost) }, { sentAt: clock.now() });
  clock.time = new Date(clock.time.getTime() + 120_000);
  // The waiting ones have workflows.
  const isLost = (id: string) => id === workflowIds.publishSite(lost);
  const temporal = Object.assign(Object.create(deps.temporal), {
    workflow: {
      getHandle: (id: string) =>
        isLost(id) ? deps.temporal.workflow.getHandle(id) : { describe: async () => ({ status: { name: 'RUNNING' } }) },
    },
  });
  const { reconcileDeployments } = reconciliationActivities({ ...deps, temporal });
  const rounds: number[] = [];
  while (rounds.length < 40 && !rounds.includes(1)) rounds.push((await reconcileDeployments()).restarted);
  expect(rounds.at(-1)).toBe(1);
  await deps.em().nativeUpdate(Deployment, { id: { $in: ids } }, { status: 'cancelled' });
});

test('only a scan with a lost workflow is restarted, with its request’s id', async () => {
  const id = await accept(await newSite());
  await claimBuild(deps.em(), clock, id);
  await built(id);
  await runWithContext({ reqId: 'req-of-a-publish' }, () => goLive(deps.em(), clock, id));
  const lost = workflowIds.scanContent(id);
  await deps.em().nativeUpdate(OutboxEntry, { workflowId: lost }, { sentAt: clock.now() });
  clock.time = new Date(clock.time.getTime() + 600_000);
  const told: object[] = [];
  const log = { ...deps.log, warn: (line: object) => void told.push(line) } as unknown as Deps['log'];
  const { sweepRows } = reconciliationActivities({ ...deps, log });
  await sweepRows();
  expect(told).toContainEqual({ lost, reqId: 'req-of-a-publish', repair: 'restarted' });
  while ((await relayOutbox(deps)) > 0);
  expect((await deps.temporal.workflow.getHandle(lost).describe()).status.name).toBe('RUNNING');
  told.length = 0;
  await sweepRows();
  expect(told).toEqual([]);
});

test('a finished build of an archived site is cancelled, an overtaken one superseded', async () => {
  const site = await newSite();
  const [first, later] = [await accept(site), await accept(site, 'posts')];
  for (const id of [first, later]) await built(id);
  expect((await goLive(deps.em(), clock, later)).status).toBe('live');
  expect(await goLive(deps.em(), clock, first)).toMatchObject({ status: 'superseded', supersededById: later });

  const archived = await newSite();
  const last = await accept(archived);
  await built(last);
  await deps.em().nativeUpdate(Site, { id: archived }, { status: 'archived', archivedAt: clock.now() });
  expect(await goLive(deps.em(), clock, last)).toMatchObject({ status: 'cancelled', supersededById: null });
  expect((await deps.em().findOneOrFail(Site, archived)).liveDeploymentId).toBeNull();
});

test('a site builds publishes one by one in order; repeated claims change nothing', async () => {
  const site = await newSite();
  const first = await accept(site);
  expect(await claimBuild(deps.em(), clock, first)).toEqual({ turn: 'build' });
  expect(await claimBuild(deps.em(), clock, first)).toEqual({ turn: 'build' });
  const second = await accept(site);
  expect(await claimBuild(deps.em(), clock, second)).toEqual({ turn: 'wait', for: first });
  await settle(deps.em(), deps, first, { status: 'cancelled' });
  expect(await claimBuild(deps.em(), clock, second)).toEqual({ turn: 'build' });
});

test('posts wait for a site’s publish, and are built on its result', async () => {
  const site = await newSite();
  const whole = await accept(site);
  await deps.em().nativeUpdate(Deployment, { id: whole }, { sourceCommit: 'b'.repeat(40) });
  await claimBuild(deps.em(), clock, whole);
  const posts = await accept(site, 'posts');
  expect(await claimBuild(deps.em(), clock, posts)).toEqual({ turn: 'wait', for: whole });
  await built(whole);
  await goLive(deps.em(), clock, whole);
  expect(await claimBuild(deps.em(), clock, posts)).toEqual({ turn: 'build' });
  expect((await read(posts)).sourceCommit).toBe('b'.repeat(40));
});

test('a publish of the site supersedes waiting posts, but posts never supersede it', async () => {
  const site = await newSite();
  await claimBuild(deps.em(), clock, await accept(site));
  const posts = await accept(site, 'posts');
  const whole = await accept(site);
  expect(await read(posts)).toMatchObject({ status: 'superseded', supersededById: whole });
  await accept(site, 'posts');
  expect((await read(whole)).status).toBe('queued');
});

test('a publish accepted before a restore cannot go live after it', async () => {
  const site = await newSite();
  const old = await accept(site);
  await claimBuild(deps.em(), clock, old);
  await built(old);
  await goLive(deps.em(), clock, old);
  const slow = await accept(site);
  await claimBuild(deps.em(), clock, slow);
  await built(slow);
  const ticket = await takeTicket(deps.em(), site);
  await goLive(deps.em(), clock, old, { restoreTicket: ticket });
  expect(await goLive(deps.em(), clock, slow)).toMatchObject({ status: 'superseded', supersededById: old });
  expect((await read(old)).status).toBe('live');
});

test('of fifty racing to go live the one with the last ticket wins', async () => {
  const site = await newSite();
  const ids: string[] = [];
  for (let n = 0; n < 50; n++) {
    const id = await accept(site);
    await deps.em().nativeUpdate(Deployment, { id }, { status: 'ready', manifestSha256: 'f'.repeat(64) });
    ids.push(id);
  }
  await Promise.all(ids.map((id) => goLive(deps.em(), clock, id)));
  const live = await deps.em().find(Deployment, { site, status: 'live' });
  expect(live.map(({ id }) => id)).toEqual([ids.at(-1)]);
  expect((await deps.em().findOneOrFail(Site, { id: site })).liveDeploymentId).toBe(ids.at(-1));
});

test('a failure message that the database refuses is stored in cleaned form', async () => {
  const id = await accept(await newSite());
  const error = { code: 'build_failed', message: `cut \uD83D and \0`, retryable: false } as const;
  expect(await settle(deps.em(), deps, id, { status: 'failed', error })).toBe(true);
  expect((await read(id)).error?.message).toBe('cut \u{FFFD} and \u{FFFD}');
  expect(await settle(deps.em(), deps, id, { status: 'cancelled' })).toBe(false);
});

test('the first output file marks only its own running build', async () => {
  const [one, other, waiting] = await Promise.all(
    [newSite(), newSite(), newSite()].map(async (site) => accept(await site)),
  );
  for (const id of [one, other] as string[]) await claimBuild(deps.em(), clock, id);
  for (const id of [one, waiting] as string[]) await markStoring(deps.em(), id);
  const statuses = await Promise.all([one, other, waiting].map(async (id) => (await read(id as string)).status));
  expect(statuses).toEqual(['storing', 'building', 'queued']);
});

test('unfinished publishes are cancelled with their workflows', async () => {
  const siteId = await newSite();
  const id = await accept(siteId);
  await deps.em().transactional((tx) => cancelUnfinished(tx, clock, [{ id: siteId }]));
  expect(await read(id)).toMatchObject({ status: 'cancelled', finishedAt: clock.now() });
  const entry = { workflowId: workflowIds.publishSite(id), kind: 'cancel' } as const;
  expect(await deps.em().count(OutboxEntry, entry)).toBe(1);
});
