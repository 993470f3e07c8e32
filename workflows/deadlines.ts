/** How a workflow follows a row that ends by itself: it looks, and looks again when the row has moved or its time is over. */
import { condition, defineSignal, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import type { Settled } from '#db/deadlines.ts';

/** The row has moved: read it again. */
export const changed = defineSignal('moved');

/**
 * Until the row changes no more. `waitsFor` says to an operator what is waited for in a state; `goOn` begins anew where the row is followed for so
 * long that the history grows large.
 */
export async function watchRow(
  settle: () => Promise<Settled>,
  waitsFor: (status: string) => string,
  { slackMs = 1000, goOn }: { slackMs?: number; goOn?: () => Promise<never> } = {},
): Promise<{ status: string }> {
  let isMoved = false;
  setHandler(changed, () => {
    isMoved = true;
  });
  for (;;) {
    isMoved = false;
    const row = await settle();
    setCurrentDetails(row.settled ? `Ended: **${row.status}**.` : waitsFor(row.status));
    if (row.settled) return { status: row.status };
    // The server's clock and ours differ a little: so much later it has run out for both.
    await condition(() => isMoved, row.leftMs + slackMs);
    if (goOn && workflowInfo().continueAsNewSuggested) await goOn();
  }
}
