/** One after the other: writers of one repository in this process do not race each other for its head. */

const last = new Map<string, Promise<unknown>>();

/** Runs `work` when all that was given earlier under the same key has ended, well or not. */
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
