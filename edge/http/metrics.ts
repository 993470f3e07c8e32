/** Counts responses by kind, status and duration: a few additions in memory each, read when Prometheus scrapes. */
import type { EdgeResponse } from '#edge/content/response.ts';

/** `page`: of a live site. `file`: other files, and pages of drafts and sketches. `own`: the edge's own pages. */
const responseKinds = ['page', 'file', 'own'] as const;
const classes = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;
/** Seconds. A plain response takes some ten millionths. */
export const durationBounds = [0.00005, 0.0002, 0.001, 0.005, 0.02, 0.1, 0.5, 2, 10] as const;

export type ResponseMetrics = ReturnType<typeof createResponseMetrics>;

export function createResponseMetrics() {
  const counts = new Float64Array(responseKinds.length * classes.length);
  const durations = new Float64Array(durationBounds.length + 1);
  const boundsMs = durationBounds.map((seconds) => seconds * 1000);
  let totalMs = 0;

  return {
    note({ head, page, isOwn }: EdgeResponse, ms: number): void {
      const kind = page !== undefined ? 0 : isOwn ? 2 : 1;
      const at = kind * classes.length + Math.floor(head.status / 100) - 1;
      counts[at] = (counts[at] as number) + 1;
      let bound = 0;
      while (bound < boundsMs.length && ms > (boundsMs[bound] as number)) bound += 1;
      durations[bound] = (durations[bound] as number) + 1;
      totalMs += ms;
    },
    read() {
      const responses = responseKinds.flatMap((kind, k) =>
        classes.map((status, s) => ({ kind, status, count: counts[k * classes.length + s] as number })),
      );
      return {
        responses: responses.filter(({ count }) => count > 0),
        durations: [...durations],
        seconds: totalMs / 1000,
      };
    },
  };
}
