/** Deletes expired rows of the API, and completes what a killed process left. All processes do this; concurrent runs are safe. */

import { sweepQuotas } from '#db/accounts/daily-quota.ts';
import { completeAbandonedPushes, publishPushes } from '#git/accepted-pushes.ts';
import { minuteMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { sweepIdempotencyKeys } from './idempotency.ts';
import { sweepDone } from './inbox/done.ts';
import { sweepInboxNews } from './inbox/poller.ts';
import { publisherOfPushes } from './publishing/pushes.ts';
import { sweepUploadStreams } from './source/upload-stream.ts';

const everyMs = 10 * minuteMs;

/** Returns a function that stops it. */
export function startSweeping(deps: Deps): () => void {
  const run = () =>
    void sweep(deps).catch((error) =>
      deps.log.warn({ err: error }, 'a periodic clean-up failed; the next run will retry it'),
    );
  const timer = setInterval(run, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

export async function sweep(deps: Deps): Promise<void> {
  await sweepUploadStreams(deps);
  await sweepIdempotencyKeys(deps);
  await sweepQuotas(deps.em(), deps.clock);
  await sweepInboxNews(deps);
  await sweepDone(deps.em(), deps.clock.now());
  await deps.em().execute('delete from photo_search where expires_at < ?', [deps.clock.now()]);
  await deps.em().execute('delete from rate_limit where resets_at < ?', [deps.clock.now()]);
  if (!deps.repositories) return;
  await completeAbandonedPushes(deps.em(), deps.clock, deps.repositories);
  await publishPushes(deps.em(), publisherOfPushes(deps));
}
