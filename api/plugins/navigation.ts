/** Distinguishes people who follow a link from programs: link previews, prefetching, monitoring. */
import type { IncomingHttpHeaders } from 'node:http';
import { isbot } from 'isbot';

/** Programs that people run on purpose, and headless browsers: they are treated like a browser. */
const runOnPurpose = /^(?:axios|curl|go-http-client|node|python|undici|wget)\b|HeadlessChrome/i;

/**
 * Whether the request is a GET for a page in a window. Browsers send their purpose (`Sec-Fetch-Dest`, Fetch Metadata)
 * and mark prefetching (`Sec-Purpose`). Clients without these headers count unless their user agent is a known robot. A
 * person's click (`Sec-Fetch-User`) always counts.
 */
export function isHumanNavigation({ method, headers }: { method: string; headers: IncomingHttpHeaders }): boolean {
  const { 'sec-fetch-dest': destination, 'sec-fetch-user': user, 'user-agent': agent = '' } = headers;
  const isAhead = /prefetch|preview/i.test(`${headers['sec-purpose'] ?? ''} ${headers.purpose ?? ''}`);
  if (method !== 'GET' || isAhead || (destination ?? 'document') !== 'document') return false;
  return user === '?1' || !isbot(agent) || runOnPurpose.test(agent);
}
