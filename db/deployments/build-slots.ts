/**
 * The build slots of all workers. They are counted in rows, so that accounts share them fairly over several worker
 * processes: a build has a slot while its deployment is `building` or `storing`.
 */
import { textArray } from '#db/arrays.ts';
import type { EntityManager } from '#db/orm.ts';
import { lockInTransaction } from '#db/transaction-lock.ts';
import { signalWorkflow } from '#db/workflow-messages.ts';
import { nextBuilds } from '#rules/builds/slots.ts';
import { buildKinds, unfinishedStatuses } from '#rules/states.ts';
import { hourMs } from '#rules/time.ts';
import { deploymentWorkflow } from '#rules/workflow-ids.ts';
import type { Clock } from '#runtime/clock.ts';
import { buildSlots } from './builder-capacity.ts';
import type { Deployment } from './deployment.ts';

type Unfinished = Pick<Deployment, 'id' | 'kind' | 'status' | 'ticket'> & {
  site: string;
  account: string;
  isLate: boolean;
};

/** After this time, the account of a build that may start and has not started gives way to others, which ask twice a minute. */
const lateAfterMs = 10_000;

/**
 * Whether the queued build may start now. The caller starts it in the same transaction, after which it locks nothing
 * more. Signals the others that may start.
 */
export async function mayStartBuild(tx: EntityManager, clock: Clock, id: string): Promise<boolean> {
  await lockInTransaction(tx, 'build slots');
  const granted = await grantedBuilds(tx, clock);
  const others = granted.filter((one) => one.id !== id);
  await signalTurns(tx, clock, others);
  return others.length < granted.length;
}

/** Signals the builds that may start, after a slot became free. Everything that frees it is flushed. */
export async function signalNextBuilds(tx: EntityManager, clock: Clock): Promise<void> {
  await signalTurns(tx, clock, await grantedBuilds(tx, clock));
}

async function signalTurns(tx: EntityManager, clock: Clock, builds: readonly Unfinished[]): Promise<void> {
  // A row that is locked is starting or ending, or gets its turn by another call: waiting for it could be a deadlock.
  await tx.execute(
    `update deployment set turn_at = ? where id in
       (select id from deployment where id = any(?) and status = 'queued' and turn_at is null for update skip locked)`,
    [clock.now(), textArray(builds.map(({ id }) => id))],
  );
  for (const { id: deploymentId, kind } of builds) {
    const workflow = deploymentWorkflow({ kind });
    if (workflow !== 'publishPreview') signalWorkflow(tx, clock, workflow, { deploymentId }, 'turn');
  }
}

async function grantedBuilds(tx: EntityManager, clock: Clock): Promise<Unfinished[]> {
  const unfinished = await tx.execute<Unfinished[]>(
    `select deployment.id, kind, deployment.status, ticket, site_id as site, account_id as account,
       coalesce(turn_at < ?, false) as "isLate"
     from deployment join site on site.id = site_id
     where deployment.status = any(?) and kind = any(?) order by deployment.created_at, deployment.id`,
    [new Date(clock.now().getTime() - lateAfterMs), textArray(unfinishedStatuses), textArray(buildKinds)],
  );
  const next = unfinished.filter((one) => one.status === 'queued' && isNextOfSite(one, unfinished));
  // Otherwise an account with many builds that do not start could keep a slot idle with one after the other.
  const late = new Set(next.filter(({ isLate }) => isLate).map(({ account }) => account));
  const waiting = next.map((one) => ({ ...one, isLate: late.has(one.account) }));
  if (waiting.length === 0) return [];
  const running = new Map<string, number>();
  for (const { account, status } of unfinished)
    if (status !== 'queued') running.set(account, (running.get(account) ?? 0) + 1);
  const slots = await buildSlots(tx, clock);
  const lastStart = await lastStarts(tx, clock);
  const granted = nextBuilds({ slots, running, waiting, lastStart });
  return waiting.filter(({ id }) => granted.includes(id));
}

/** A site builds its publishes one by one; drafts do not wait for each other. */
function isNextOfSite({ kind, site, ticket }: Unfinished, all: readonly Unfinished[]): boolean {
  return kind === 'draft' || !all.some((one) => one.kind !== 'draft' && one.site === site && one.ticket < ticket);
}

/** When the last build of each account started. Accounts without one in the last hour are equals. */
async function lastStarts(tx: EntityManager, clock: Clock): Promise<Map<string, number>> {
  const rows = await tx.execute<{ account: string; at: Date | string }[]>(
    `select account_id as account, max(started_at) as at from deployment join site on site.id = site_id
     where kind = any(?) and started_at > ? group by account_id`,
    [textArray(buildKinds), new Date(clock.now().getTime() - hourMs)],
  );
  return new Map(rows.map(({ account, at }) => [account, new Date(at).getTime()]));
}
