/**
 * maintain: repositories that have grown slow to read are packed anew, and those of sites that were never finished are removed; runs each hour as
 * `schedule:maintain`. It keeps no state: what a run did not reach, the next one does.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import * as policies from './policies.ts';

const { maintainRepositories } = proxyActivities<Activities>(policies.housekeeping);

export async function maintain(): Promise<{ repacked: number; removed: number; failed: number }> {
  return await maintainRepositories();
}
