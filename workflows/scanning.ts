/**
 * scanContent: scans the files of a shown version, or of a sketch, for content that an operator should review.
 *
 * Key: `scan:<deployment or sketch>`. It never delays a publish: a version is live before it is scanned. Durable because every shown version
 * is scanned, even if workers are killed; a second run finds the same rows. A process scans one version at a time and prefers the account that
 * has waited longest; this workflow waits until then. It ends when the row is marked as scanned; after five attempts it is marked with a
 * flag. If it is stuck, the last failure of its activity says why. If it was terminated, `sweep` restarts it.
 */
import { continueAsNew, isCancellation, proxyActivities, setCurrentDetails, sleep } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import type { ScanResult } from '#activities/scanning.ts';
import * as policies from './policies.ts';

const { scanFiles } = proxyActivities<Activities>(policies.scanning);
const { giveUpScan } = proxyActivities<Activities>(policies.quick);

const waitsMax = 200;
/** Well within the time for which a process keeps a waiter in its queue. */
const longestWaitMs = 10_000;

export async function scanContent({ id }: { id: string }): Promise<{ flags: number }> {
  let scanned = await scan(id);
  for (let waits = 0; scanned.busy; waits++) {
    if (waits === waitsMax) return await continueAsNew<typeof scanContent>({ id });
    await sleep(Math.min(longestWaitMs, 500 * 2 ** Math.min(waits, 10)));
    scanned = await scan(id);
  }
  setCurrentDetails(`Scanned **${scanned.files}** files; flagged **${scanned.flags}**.`);
  return { flags: scanned.flags };
}

async function scan(id: string): Promise<ScanResult> {
  try {
    return await scanFiles.executeWithOptions({ summary: 'scan the new files' }, [id]);
  } catch (error) {
    if (isCancellation(error)) throw error;
    return await giveUpScan.executeWithOptions({ summary: 'every attempt failed' }, [id]);
  }
}
