/** Long work in slices, with pauses in which other requests run. */
import { setImmediate } from 'node:timers/promises';

const sliceMs = 5;

/** Begins a slice. Call the function often: its promise pauses if the slice is over, and there is none until then. */
export function startSlices(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < sliceMs) return undefined;
    return setImmediate().then(() => {
      since = performance.now();
    });
  };
}

/** The items, with pauses. */
export async function* sliced<Item>(items: Iterable<Item>): AsyncGenerator<Item> {
  const pause = startSlices();
  for (const item of items) {
    yield item;
    await pause();
  }
}
