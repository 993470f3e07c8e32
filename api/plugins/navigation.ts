/** Whether somebody comes by a link of ours, or a program looks at it: to show what is behind it, to warm it up, to see that it answers. */
import type { IncomingHttpHeaders } from 'node:http';
import { isbot } from 'isbot';

/** Programs that somebody runs on purpose, and browsers without a window: they get what a browser gets. */
const runOnPurpose = /^(?:axios|curl|go-http-client|node|python|undici|wget)\b|HeadlessChrome/i;

/**
 * A GET for a page of a window. Browsers say what they ask for (`Sec-Fetch-Dest`, Fetch Metadata) and that they load before anybody asks
 * (`Sec-Purpose`); of those that say nothing, what calls itself a robot is none. A person's own click (`Sec-Fetch-User`) always is one.
 */
export function isHumanNavigation({ method, headers }: { method: string; headers: IncomingHttpHeaders }): boolean {
  const { 'sec-fetch-dest': destination, 'sec-fetch-user': user, 'user-agent': agent = '' } = headers;
  const isAhead = /prefetch|preview/i.test(`${headers['sec-purpose'] ?? ''} ${headers.purpose ?? ''}`);
  if (method !== 'GET' || isAhead || (destination ?? 'document') !== 'document') return false;
  return user === '?1' || !isbot(agent) || runOnPurpose.test(agent);
}
