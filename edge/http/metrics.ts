/** How many answers a process sent, of what kind and how fast: a few additions in memory for each, read when Prometheus asks. */
import type { Answer } from '#edge/content/response.ts';

/** A page of a live site; a file, or a draft's or sketch's page; a page of the edge's own, as for what is not there. */
export const answerKinds = ['page', 'file', 'own'] as const;
const classes = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;
/** Seconds. A plain answer takes some ten millionths. */
export const answerBounds = [0.00005, 0.0002, 0.001, 0.005, 0.02, 0.1, 0.5, 2, 10] as const;

export type AnswerFigures = ReturnType<typeof openAnswerFigures>;

export function openAnswerFigures() {
  const counts = new Float64Array(answerKinds.length * classes.length);
  const fast = new Float64Array(answerBounds.length + 1);
  const boundsMs = answerBounds.map((seconds) => seconds * 1000);
  let totalMs = 0;

  return {
    note({ head, page, isOwn }: Answer, ms: number): void {
      const kind = page !== undefined ? 0 : isOwn ? 2 : 1;
      const at = kind * classes.length + Math.floor(head.status / 100) - 1;
      counts[at] = (counts[at] as number) + 1;
      let bound = 0;
      while (bound < boundsMs.length && ms > (boundsMs[bound] as number)) bound += 1;
      fast[bound] = (fast[bound] as number) + 1;
      totalMs += ms;
    },
    read() {
      const responses = answerKinds.flatMap((kind, k) =>
        classes.map((status, s) => ({ kind, status, count: counts[k * classes.length + s] as number })),
      );
      return { responses: responses.filter(({ count }) => count > 0), durations: [...fast], seconds: totalMs / 1000 };
    },
  };
}
