/** Rounds that queue e-mails for many owners. */

/**
 * Queues for one after another. Returns how many `queue` answered with true. One that fails does not keep the others from their e-mails;
 * the first failure is thrown at the end.
 */
export async function queueForEach<Item>(
  items: readonly Item[],
  queue: (item: Item) => Promise<boolean>,
): Promise<number> {
  let queued = 0;
  const failures: unknown[] = [];
  for (const item of items) {
    const isQueued = await queue(item).catch((error: unknown) => void failures.push(error));
    if (isQueued) queued += 1;
  }
  if (failures.length > 0) throw failures[0];
  return queued;
}
