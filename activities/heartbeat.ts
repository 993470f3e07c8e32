/** Heartbeats of activities: without them, the work of a killed worker would be retried only after the activity's time-out. */
import { Context } from '@temporalio/activity';

const heartbeatMs = 1000;

/** Heartbeats the running activity each second while `act` runs. */
export async function withHeartbeat<T>(act: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const heartbeat = setInterval(() => context.heartbeat(), heartbeatMs);
  try {
    return await act();
  } finally {
    clearInterval(heartbeat);
  }
}
