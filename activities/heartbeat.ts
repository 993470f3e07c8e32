/** A step that is seen to be alive, so that what a killed worker had in hand is taken up within seconds and not at the end of its time. */
import { Context } from '@temporalio/activity';

const beatMs = 1000;

/** Beats the heart of the step that is running for as long as `act` does. */
export async function withHeartbeat<T>(act: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(), beatMs);
  try {
    return await act();
  } finally {
    clearInterval(beat);
  }
}
