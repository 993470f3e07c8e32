import type { Clock } from '#runtime/clock.ts';

/** The Date field (RFC 9110 section 6.6.1), rendered once a second. */
export function createDateField<Rendered>(clock: Clock, render: (date: string) => Rendered): () => Rendered {
  let field: Rendered | undefined;
  return () => {
    if (field !== undefined) return field;
    const now = clock.now();
    setTimeout(() => (field = undefined), 1_000 - now.getMilliseconds()).unref();
    field = render(now.toUTCString());
    return field;
  };
}
