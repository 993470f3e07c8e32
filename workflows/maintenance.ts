/**
 * maintain: repacks repositories that have become slow to read, and removes those of sites that were never completed; runs each hour as
 * `schedule:maintain`. It has no state: the next run does what this one did not reach.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import * as policies from './policies.ts';

const { maintainRepositories } = proxyActivities<Activities>(policies.housekeeping);

export async function maintain(): Promise<{ repacked: number; removed: number; failed: number }> {
  return await maintainRepositories();
}
