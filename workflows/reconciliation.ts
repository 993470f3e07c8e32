/**
 * reconcile: holds unfinished rows against their workflows and mends what differs; runs each minute as `schedule:reconcile`.
 *
 * Every repair is counted in its result and logged: in a healthy system all counts are 0. It keeps no state, so a run that fails is
 * simply followed by the next.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import * as policies from './policies.ts';

const { reconcileDeployments, sweepRows, sweepFiles } = proxyActivities<Activities>({
  ...policies.quick,
  retry: { maximumAttempts: 3 },
});
const { sweepSandbox } = proxyActivities<Activities>({
  ...policies.quick,
  taskQueue: 'builds',
  scheduleToStartTimeout: '20 seconds',
  retry: { maximumAttempts: 1 },
});

export async function reconcile(): Promise<{ restarted: number; failed: number }> {
  return await reconcileDeployments();
}

/** sweep: what is past its time is deleted (sent outbox entries, credentials, what kills left in the store); `schedule:sweep`, hourly. */
export async function sweep(): Promise<{ rows: number; files: number }> {
  return { rows: await sweepRows(), files: await sweepFiles() };
}

/** sweepOrphans: builds that a killed worker left are removed from the engine; `schedule:sweep-orphans`, each two minutes. */
export async function sweepOrphans(): Promise<{ removed: number }> {
  return { removed: await sweepSandbox() };
}
