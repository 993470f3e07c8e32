/** From where visitors came: the host alone, and of another site alone. */
import { LRUCache } from 'lru-cache';
import type { RequestFields } from './request.ts';

const address = /^https?:\/\/([a-z0-9-]+(?:\.[a-z0-9-]+)+)\.?(?::[0-9]{1,5})?(?:[/?#]|$)/i;
const hostMax = 253;
const remembered = 1_000;
/** Longer ones are read anew each time: they are rare, and would fill the memory. */
const rememberedLength = 200;

export type Referrers = {
  /**
   * The host of the page that led here, in lower case and without `www.`; `undefined` for the site's own pages and for what is no address.
   */
  of(fields: Pick<RequestFields, 'referer' | 'host'>): string | undefined;
};

export function openReferrers(): Referrers {
  const hosts = new LRUCache<string, string>({ max: remembered });

  /** Empty where it names none. */
  function hostOf(referer: string): string {
    const known = hosts.get(referer);
    if (known !== undefined) return known;
    const found = address.exec(referer)?.[1] ?? '';
    const host = found.length > hostMax ? '' : ownCopy(found.toLowerCase());
    if (referer.length <= rememberedLength) hosts.set(ownCopy(referer), host);
    return host;
  }

  return {
    of({ referer, host }) {
      if (referer === undefined) return undefined;
      const from = hostOf(referer);
      if (from === '' || (host !== undefined && isSameHost(host, from))) return undefined;
      return from.startsWith('www.') ? from.slice(4) : from;
    },
  };
}

/** A copy, since a part of a request's head would hold all of it in memory. */
function ownCopy(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

/** Whether a Host field, which may end with a dot and a port, names this host. */
function isSameHost(field: string, host: string): boolean {
  // Most hosts differ in their first letter; 32 is what tells small letters from capitals.
  if ((field.charCodeAt(0) | 32) !== (host.charCodeAt(0) | 32)) return false;
  if (field.length < host.length || field.slice(0, host.length).toLowerCase() !== host) return false;
  return field.length === host.length || /^\.?(?::[0-9]*)?$/.test(field.slice(host.length));
}
