/**
 * reconcile: compares unfinished rows with their workflows and repairs the differences; runs each minute as `schedule:reconcile`.
 *
 * Every repair is counted in its result and logged: in a healthy system all counts are 0. It has no state: the next run repeats one that
 * failed.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import { queues } from '#rules/workflow-ids.ts';
import * as policies from './policies.ts';

const { reconcileDeployments, sweepRows, sweepFiles } = proxyActivities<Activities>({
  ...policies.quick,
  retry: { maximumAttempts: 3 },
});
const { sweepSandbox: removeOrphanBuilds } = proxyActivities<Activities>({
  ...policies.quick,
  taskQueue: queues.builds,
  scheduleToStartTimeout: '20 seconds',
  retry: { maximumAttempts: 1 },
});

export async function reconcile(): Promise<{ restarted: number; failed: number }> {
  return await reconcileDeployments();
}

/** sweep: deletes expired data (sent outbox entries, credentials, files of killed processes in the store); `schedule:sweep`, hourly. */
export async function sweep(): Promise<{ rows: number; files: number }> {
  return { rows: await sweepRows(), files: await sweepFiles() };
}

/** sweepOrphans: removes the builds of killed workers from the engine of one worker; `schedule:sweep-orphans`, each two minutes. */
export async function sweepOrphans(): Promise<{ removed: number }> {
  return { removed: await removeOrphanBuilds() };
}
