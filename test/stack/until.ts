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
