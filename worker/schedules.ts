/**
 * Recurring work as Temporal Schedules. Each worker that starts creates or updates them, and removes those of other
 * versions.
 */
import { type Client, ScheduleAlreadyRunning, ScheduleNotFoundError, type ScheduleOptions } from '@temporalio/client';
import { queues, workflowIds } from '#rules/workflow-ids.ts';

export const recurring = [
  { name: 'reconcile', type: 'reconcile', every: '1 minute', note: 'Compares unfinished rows with their workflows.' },
  {
    name: 'reconcile-mails',
    type: 'reconcileWaitingMails',
    every: '1 minute',
    note: 'Compares queued mails with their workflows.',
  },
  {
    name: 'mail-owners',
    type: 'mailOwners',
    every: '1 minute',
    note: 'Queues e-mails about comments without an answer, and weekly summaries.',
  },
  {
    name: 'reconcile-billing',
    type: 'reconcileBilling',
    every: '1 minute',
    note: 'Polls subscriptions whose workflows are lost.',
  },
  {
    name: 'refresh-payout-accounts',
    type: 'refreshPayoutAccounts',
    every: '10 minutes',
    note: 'Polls the status of payout accounts.',
  },
  { name: 'sweep', type: 'sweep', every: '1 hour', note: 'Deletes expired data.' },
  { name: 'sweep-orphans', type: 'sweepOrphans', every: '2 minutes', note: 'Removes the builds of killed workers.' },
  {
    name: 'renew-own-certificate',
    type: 'renewOwn',
    every: '1 minute',
    note: 'Issues and renews the certificate for the base domain.',
  },
  {
    name: 'roll-up-analytics',
    type: 'rollUpAnalytics',
    every: '1 hour',
    note: 'Rolls up views into days and months, and deletes the salts of past days.',
  },
  {
    name: 'check-ledger',
    type: 'checkLedger',
    every: '1 hour',
    note: 'Compares charges with payments, and payments with bookings.',
  },
  {
    name: 'maintain',
    type: 'maintain',
    every: '1 hour',
    note: 'Repacks repositories, and removes those of sites that were never completed.',
  },
] as const;

export async function ensureSchedules(temporal: Client): Promise<void> {
  await Promise.all(recurring.map((one) => ensureSchedule(temporal, one)));
  await removeUnknownSchedules(temporal);
}

/**
 * Schedules of another version have no workflow here. The worker that starts last decides, in an upgrade and in a
 * rollback.
 */
async function removeUnknownSchedules(temporal: Client): Promise<void> {
  const known: string[] = recurring.map(({ name }) => workflowIds.schedule(name));
  for await (const { scheduleId } of temporal.schedule.list()) {
    if (!scheduleId.startsWith(workflowIds.schedule('')) || known.includes(scheduleId)) continue;
    await temporal.schedule
      .getHandle(scheduleId)
      .delete()
      .catch((error) => {
        if (!(error instanceof ScheduleNotFoundError)) throw error;
      });
  }
}

async function ensureSchedule(
  temporal: Client,
  { name, type, every, note }: (typeof recurring)[number],
): Promise<void> {
  const scheduleId = workflowIds.schedule(name);
  const schedule = {
    spec: { intervals: [{ every }] },
    action: {
      type: 'startWorkflow',
      workflowType: type,
      workflowId: scheduleId,
      taskQueue: queues.platform,
      args: [],
      staticSummary: note,
    },
    policies: { overlap: 'SKIP', catchupWindow: '1 minute' },
    state: { note },
  } as const satisfies Omit<ScheduleOptions, 'scheduleId'>;
  try {
    await temporal.schedule.create({ scheduleId, ...schedule });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await temporal.schedule.getHandle(scheduleId).update((was) => ({ ...schedule, state: { ...was.state, note } }));
  }
}
