/** Waits for a state and never for a time: looks again until it is there, and fails with what it saw last. */
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
