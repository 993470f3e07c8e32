/**
 * rollUpAnalytics: rolls hourly views up to days, and days to months, and deletes the salts of past days. Runs each hour as
 * `schedule:roll-up-analytics`. It has no state: the next run does what this one did not reach.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import * as policies from './policies.ts';

const { rollUpViews } = proxyActivities<Activities>(policies.housekeeping);

export async function rollUpAnalytics(): Promise<{ days: number; months: number; deleted: number }> {
  return await rollUpViews();
}
