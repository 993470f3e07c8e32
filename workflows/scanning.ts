/**
 * scanContent: the files of a version that is shown, or of a sketch, read for what a person of the platform should look at.
 *
 * Key: `scan:<deployment or sketch>`. Nobody waits for it: a version is live before it is scanned. Durable because it is to happen once for
 * whatever was shown, through killed workers; what it finds are rows that a second run finds again. A process scans one thing at a time, and
 * first that of whoever had no turn for longest: until it is this one's, this waits. Ends when the row says scanned; after five tries it says
 * so too, with a flag. If it is stuck: its activity's last failure says why. If it was terminated: `sweep` starts it again.
 */
import { continueAsNew, isCancellation, proxyActivities, setCurrentDetails, sleep } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import type { ScanResult } from '#activities/scanning.ts';
import * as policies from './policies.ts';

const { scanFiles } = proxyActivities<Activities>(policies.scanning);
const { giveUpScan } = proxyActivities<Activities>(policies.quick);

const waitsMax = 200;
/** Well within what a process holds who waits to be there for. */
const longestWaitMs = 10_000;

export async function scanContent({ id }: { id: string }): Promise<{ flags: number }> {
  let scanned = await scan(id);
  for (let waits = 0; scanned.busy; waits++) {
    if (waits === waitsMax) return await continueAsNew<typeof scanContent>({ id });
    await sleep(Math.min(longestWaitMs, 500 * 2 ** Math.min(waits, 10)));
    scanned = await scan(id);
  }
  setCurrentDetails(`Read **${scanned.files}** files, flagged **${scanned.flags}**.`);
  return { flags: scanned.flags };
}

async function scan(id: string): Promise<ScanResult> {
  try {
    return await scanFiles.executeWithOptions({ summary: 'read what has changed' }, [id]);
  } catch (error) {
    if (isCancellation(error)) throw error;
    return await giveUpScan.executeWithOptions({ summary: 'no try could read it' }, [id]);
  }
}
