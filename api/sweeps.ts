/** Removes what the API's own memory holds past its time. Any process may, at any time; nothing depends on it but disk space. */
import { sweepQuotas } from '#db/accounts/daily-quota.ts';
import type { Deps } from '#runtime/deps.ts';
import { sweepIdempotencyKeys } from './idempotency.ts';
import { sweepNews } from './inbox/news.ts';
import { sweepUploadStreams } from './source/upload-stream.ts';

const everyMs = 10 * 60_000;

/** Answers the function that ends it. */
export function startSweeping(deps: Deps): () => void {
  const timer = setInterval(() => {
    sweep(deps).catch((error) => deps.log.warn({ err: error }, 'a sweep failed; the next one follows'));
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

export async function sweep(deps: Pick<Deps, 'config' | 'em' | 'clock'>): Promise<void> {
  await sweepUploadStreams(deps);
  await sweepIdempotencyKeys(deps);
  await sweepQuotas(deps.em(), deps.clock);
  await sweepNews(deps);
  await deps.em().execute('delete from photo_search where expires_at < ?', [deps.clock.now()]);
  await deps.em().execute('delete from rate_limit where resets_at < ?', [deps.clock.now()]);
}
