import type { EntityManager } from '#db/orm.ts';

/** Polls until a state is reached, and fails with the last one seen. */
export async function until<T>(
  look: () => Promise<T> | T,
  there: (seen: T) => boolean,
  timeoutMs = 25_000,
): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const seen = await look();
    if (there(seen)) return seen;
    if (performance.now() > end) throw new Error(`waited in vain; last seen: ${JSON.stringify(seen)?.slice(0, 2000)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
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
