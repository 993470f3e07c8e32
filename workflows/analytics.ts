/**
 * rollUpAnalytics: views by the hour become days, and days months; salts of days that are over are deleted. Runs each hour as
 * `schedule:roll-up-analytics`. It keeps no state: what a run did not reach, the next one does.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import * as policies from './policies.ts';

const { rollUpViews } = proxyActivities<Activities>(policies.housekeeping);

export async function rollUpAnalytics(): Promise<{ days: number; months: number; deleted: number }> {
  return await rollUpViews();
}
