/** The cost of counting one request by itself, without a network, in nanoseconds, on a keep-alive connection. */

import type { Socket } from 'node:net';
import pino from 'pino';
import { openPageViews } from '#edge/analytics/page-views.ts';
import { createVisitors } from '#edge/analytics/visitors.ts';
import type { EdgeResponse } from '#edge/content/response.ts';
import { readPlainRequest } from '#edge/http/http1-head.ts';
import { createResponseMetrics } from '#edge/http/metrics.ts';
import { systemClock } from '#runtime/clock.ts';

const warmUp = 100_000;
const requests = 1_000_000;

/** For requests with these header lines. */
export async function countingAlone(lines: readonly string[]): Promise<number> {
  const counting = openPageViews({
    database: { write: async () => {}, saltOf: async (_day, offered) => offered, close: async () => {} },
    visitors: createVisitors({ trustedProxies: [], countryHeader: '' }),
    clock: systemClock,
    log: pino({ level: 'silent' }),
    secret: 'x'.repeat(32),
  });
  await counting.ready;
  const request = readPlainRequest(
    `${['GET /small.html HTTP/1.1', 'Host: bench.test', ...lines].join('\r\n')}\r\n\r\n`,
  );
  if (!request) throw new Error('the request does not qualify for the fast path');
  const socket = { remoteAddress: '203.0.113.9' } as Socket;
  const answer: EdgeResponse = { head: { status: 200, fields: [] }, body: undefined, siteId: 'site_1', page: '/small' };
  for (let n = 0; n < warmUp; n++) counting.sent(request, answer, socket);
  const began = performance.now();
  for (let n = 0; n < requests; n++) counting.sent(request, answer, socket);
  const took = performance.now() - began;
  await counting.close();
  return (took * 1e6) / requests;
}

/** The same for the operator's metrics: two clock reads and the additions. */
export function figuresAlone(): number {
  const figures = createResponseMetrics();
  const answer: EdgeResponse = { head: { status: 200, fields: [] }, body: undefined, siteId: 'site_1', page: '/small' };
  let began = 0;
  for (let n = -warmUp; n < requests; n++) {
    if (n === 0) began = performance.now();
    const from = performance.now();
    figures.note(answer, performance.now() - from);
  }
  return ((performance.now() - began) * 1e6) / requests;
}
