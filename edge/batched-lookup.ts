/**
 * Looks up rows by keys that visitors choose: keys that arrive during a query share the next one, so that however many
 * are requested, one query runs at a time.
 */
const batchMax = 500;

/** `query` returns the rows that exist, by key. */
export function createBatchedLookup<Row>(
  query: (keys: string[]) => Promise<ReadonlyMap<string, Row>>,
): (key: string) => Promise<Row | undefined> {
  const waiting = new Map<string, PromiseWithResolvers<Row | undefined>>();
  let isQuerying = false;

  async function runQueries(): Promise<void> {
    if (isQuerying) return;
    isQuerying = true;
    while (waiting.size > 0) {
      const asked = [...waiting].slice(0, batchMax);
      for (const [key] of asked) waiting.delete(key);
      try {
        const found = await query(asked.map(([key]) => key));
        for (const [key, { resolve }] of asked) resolve(found.get(key));
      } catch (error) {
        for (const [, { reject }] of asked) reject(error);
      }
    }
    isQuerying = false;
  }

  return async (key) => {
    const answer = waiting.get(key) ?? Promise.withResolvers<Row | undefined>();
    waiting.set(key, answer);
    void runQueries();
    return await answer.promise;
  };
}
