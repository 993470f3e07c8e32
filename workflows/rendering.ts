/**
 * renderPages: draws a page of a version in a browser, or checks pages of it.
 *
 * Key: `rendering:<rendering>`. Durable because a call that does not wait asks again later, and what follows a publish has
 * nobody who asks. The queue of browsers is one of its own, so that a publish waits for none of this. It ends when the row
 * is done or failed; without a worker that has a browser it fails after a while and says so. Not urgent: a reader of the
 * row sees its status.
 */
import { isCancellation, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import * as policies from './policies.ts';

const { drawPages } = proxyActivities<Activities>(policies.rendering);
const { giveUpRendering } = proxyActivities<Activities>(policies.quick);

export async function renderPages({ renderingId }: { renderingId: string }): Promise<{ status: string }> {
  let status: string;
  try {
    status = await drawPages.executeWithOptions({ summary: 'show the pages in a browser' }, [renderingId]);
  } catch (error) {
    if (isCancellation(error)) throw error;
    status = await giveUpRendering.executeWithOptions({ summary: 'every attempt failed' }, [renderingId]);
  }
  setCurrentDetails(`Ended: **${status}**.`);
  return { status };
}
