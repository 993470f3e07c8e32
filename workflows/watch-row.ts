/** Watches a row that expires: reads it, and reads it again when it has changed or its deadline has passed. */
import { condition, defineSignal, patched, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import type { Settled } from '#db/deadlines.ts';

/** The row has changed: read it again. */
export const changed = defineSignal('moved');

type Watching = {
  slackMs?: number;
  continueAsNew?: () => Promise<never>;
  /** The end after which the row may begin again, with a signal. */
  reopens?: string;
};

/**
 * Returns when the row is settled. `waitsFor` tells an operator what a state waits for. `continueAsNew` restarts the workflow when its history
 * has grown large.
 */
export async function watchRow(
  settle: () => Promise<Settled>,
  waitsFor: (status: string) => string,
  { slackMs = 1000, continueAsNew, reopens }: Watching = {},
): Promise<{ status: string }> {
  let isChanged = false;
  setHandler(changed, () => {
    isChanged = true;
  });
  for (;;) {
    isChanged = false;
    const row = await settle();
    setCurrentDetails(row.settled ? `Ended: **${row.status}**.` : waitsFor(row.status));
    if (row.settled) {
      // One that began again while this read it. Runs of earlier releases ended, and replay so.
      if (isChanged && row.status === reopens && patched('reopened')) continue;
      return { status: row.status };
    }
    // The server's clock and ours differ a little: after the slack the deadline has passed on both.
    await condition(() => isChanged, row.leftMs + slackMs);
    if (continueAsNew && workflowInfo().continueAsNewSuggested) await continueAsNew();
  }
}
