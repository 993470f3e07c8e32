/** Serialises writers of one repository within this process, so that they do not race for its head. */

const last = new Map<string, Promise<unknown>>();

/** Runs `work` after everything given earlier under the same key has settled. */
export async function oneAtATime<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
  const before = last.get(key);
  const mine = (before ?? Promise.resolve()).then(work, work);
  const settled = mine.catch(() => {});
  last.set(key, settled);
  try {
    return await mine;
  } finally {
    if (last.get(key) === settled) last.delete(key);
  }
}
