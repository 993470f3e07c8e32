import type { EntityManager } from '#db/orm.ts';

/** Polls until a state is reached, less often the longer that takes, and fails with the last one seen. */
export async function until<T>(
  look: () => Promise<T> | T,
  there: (seen: T) => boolean,
  timeoutMs = 25_000,
): Promise<T> {
  const began = performance.now();
  for (;;) {
    const seen = await look();
    if (there(seen)) return seen;
    const waitedMs = performance.now() - began;
    if (waitedMs > timeoutMs) throw new Error(`waited in vain; last seen: ${JSON.stringify(seen)?.slice(0, 2000)}`);
    await new Promise((resolve) => setTimeout(resolve, Math.min(20 + waitedMs / 10, 250)));
  }
}

/** Polls until so many transactions of this database wait for a lock. */
export async function untilBlocked({ em }: { em(): EntityManager }, count = 1): Promise<void> {
  const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await until(
    () => em().execute<unknown[]>(waits),
    ({ length }) => length >= count,
  );
}
