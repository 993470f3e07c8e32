/** The order of scans: accounts take turns. */
import { expect, test } from 'vitest';
import { createFairQueue, waiterTtlMs } from '#activities/scanning/fair-queue.ts';

/** All of them ask again and again, in the order given, until each was scanned. */
function scannedOf(asks: readonly string[]): string[] {
  let ms = 0;
  const turns = createFairQueue(() => ms);
  const left = new Set(asks);
  const order: string[] = [];
  for (let rounds = 0; left.size > 0 && rounds < 100; rounds++) {
    let running: string | undefined;
    for (const id of left) {
      ms += 1_000;
      if (running === undefined && turns.take(id, id.charAt(0))) running = id;
      else expect(turns.take(id, id.charAt(0))).toBe(false);
    }
    if (running === undefined) continue;
    // Those that wait ask on while it runs.
    ms += waiterTtlMs / 2;
    for (const id of left) if (id !== running) expect(turns.take(id, id.charAt(0))).toBe(false);
    turns.end();
    left.delete(running);
    order.push(running);
  }
  return order;
}

test('accounts take turns: another account’s version waits for at most one', () => {
  expect(scannedOf(['a1', 'a2', 'a3', 'b1'])).toEqual(['a1', 'b1', 'a2', 'a3']);
  expect(
    scannedOf(['a1', 'a2', 'a3', 'b1', 'b2', 'c1'])
      .slice(0, 3)
      .map((id) => id.charAt(0))
      .sort(),
  ).toEqual(['a', 'b', 'c']);
});

test('a cancelled waiter does not block others', () => {
  let ms = 0;
  const turns = createFairQueue(() => ms);
  expect([turns.take('a1', 'a'), turns.take('b1', 'b'), turns.take('a2', 'a')]).toEqual([true, false, false]);
  turns.end();
  expect(turns.take('a2', 'a')).toBe(false);
  ms += waiterTtlMs + 1;
  expect(turns.take('a2', 'a')).toBe(true);
});
