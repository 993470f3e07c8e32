/** From where a visitor came: the host alone, and of another site alone. */
import type { RequestFields } from './request.ts';

const address = /^https?:\/\/([a-z0-9-]+(?:\.[a-z0-9-]+)+)\.?(?::[0-9]{1,5})?(?:[/?#]|$)/i;
const hostMax = 253;

/** The host of the page that led here, in lower case and without `www.`; `undefined` for the site's own pages and for what is no address. */
export function referrerOf({ referer, host }: Pick<RequestFields, 'referer' | 'host'>): string | undefined {
  if (referer === undefined) return undefined;
  const found = address.exec(referer)?.[1];
  if (found === undefined || found.length > hostMax) return undefined;
  const from = found.toLowerCase();
  if (host !== undefined && isSameHost(host, from)) return undefined;
  // A copy, since a part of a request's head would hold all of it in memory.
  return Buffer.from(from.startsWith('www.') ? from.slice(4) : from, 'latin1').toString('latin1');
}

/** Whether a Host field, which may end with a dot and a port, names this host. */
function isSameHost(field: string, host: string): boolean {
  if (field.length < host.length || field.slice(0, host.length).toLowerCase() !== host) return false;
  return /^\.?(?::[0-9]*)?$/.test(field.slice(host.length));
}
