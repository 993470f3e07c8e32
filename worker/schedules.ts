/** The recurring work, as Temporal Schedules: made or brought up to date each time a worker starts, and those removed that are not in this version. */
import { type Client, ScheduleAlreadyRunning, ScheduleNotFoundError, type ScheduleOptions } from '@temporalio/client';
import { queues, workflowIds } from '#rules/workflow-ids.ts';

export const recurring = [
  { name: 'reconcile', type: 'reconcile', every: '1 minute', note: 'Holds unfinished rows against their workflows.' },
  {
    name: 'reconcile-mails',
    type: 'reconcileWaitingMails',
    every: '1 minute',
    note: 'Holds mails that wait against their workflows.',
  },
  {
    name: 'reconcile-billing',
    type: 'reconcileBilling',
    every: '1 minute',
    note: 'Asks about plans that nobody follows.',
  },
  {
    name: 'refresh-payout-accounts',
    type: 'refreshPayoutAccounts',
    every: '10 minutes',
    note: 'Asks what payout accounts may do.',
  },
  { name: 'sweep', type: 'sweep', every: '1 hour', note: 'Deletes what is past its time.' },
  { name: 'sweep-orphans', type: 'sweepOrphans', every: '2 minutes', note: 'Removes builds that killed workers left.' },
  {
    name: 'renew-own-certificate',
    type: 'renewOwn',
    every: '1 minute',
    note: 'Gets and renews the certificate of the base domain.',
  },
  {
    name: 'roll-up-analytics',
    type: 'rollUpAnalytics',
    every: '1 hour',
    note: 'Rolls views up to days and months, deletes the salts of past days.',
  },
  {
    name: 'check-ledger',
    type: 'checkLedger',
    every: '1 hour',
    note: 'Holds charges against payments, and payments against bookings.',
  },
  {
    name: 'maintain',
    type: 'maintain',
    every: '1 hour',
    note: 'Packs repositories, removes those of sites never made.',
  },
] as const;

export async function ensureSchedules(temporal: Client): Promise<void> {
  await Promise.all(recurring.map((one) => ensureSchedule(temporal, one)));
  await removeUnknownSchedules(temporal);
}

/** Those of another version, whose workflow nobody here knows. The last worker that starts decides, in an upgrade and on the way back. */
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
