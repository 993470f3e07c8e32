/**
 * scanContent: the files of a version that is shown, or of a sketch, read for what a person of the platform should look at.
 *
 * Key: `scan:<deployment or sketch>`. Nobody waits for it: a version is live before it is scanned. Durable because it is to happen once for
 * whatever was shown, through killed workers; what it finds are rows that a second run finds again. Ends when the row says scanned. If it
 * is stuck: its activity's last failure says why. If it was terminated: the reconciler starts it again.
 */
import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import * as policies from './policies.ts';

const { scanFiles } = proxyActivities<Activities>(policies.scanning);

export async function scanContent({ id }: { id: string }): Promise<{ flags: number }> {
  const scanned = await scanFiles.executeWithOptions({ summary: 'read what has changed' }, [id]);
  setCurrentDetails(`Read **${scanned.files}** files, flagged **${scanned.flags}**.`);
  return { flags: scanned.flags };
}
