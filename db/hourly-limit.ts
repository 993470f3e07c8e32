/** Limits of what may be created in any hour (a sliding window). */
import { hourMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import { errors } from '#runtime/errors.ts';

type Window = {
  limit: number;
  /** The message when the limit is reached. */
  message: string;
  /** Reads when a row was created: of those since `since`, newest first, the one at `offset`. Rows must be stored for at least an hour. */
  createdAt(since: Date, offset: number): Promise<Date | string | undefined>;
};

/** Throws `rate_limited` if `limit` rows were created within the last hour. The caller holds a lock under which they are counted. */
export async function requireBelowHourlyLimit(clock: Clock, { limit, message, createdAt }: Window): Promise<void> {
  const since = new Date(clock.now().getTime() - hourMs);
  const oldest = limit > 0 ? await createdAt(since, limit - 1) : clock.now();
  if (oldest === undefined) return;
  const seconds = Math.max(1, Math.ceil((new Date(oldest).getTime() - since.getTime()) / 1000));
  throw errors.rate_limited(message, {
    nextAction: `Send the same call again in ${seconds} seconds.`,
    retryAfterSeconds: seconds,
  });
}
