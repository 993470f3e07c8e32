/** Referrers: only the host, and only of other sites. */
import type { RequestFields } from '#edge/http/request.ts';

const address = /^https?:\/\/([a-z0-9-]+(?:\.[a-z0-9-]+)+)\.?(?::[0-9]{1,5})?(?:[/?#]|$)/i;
/** An IP address, which may be a visitor's. */
const isNumber = /\.\d+$/;
const hostMax = 253;
/** In each of two generations. A plain map costs a tenth of an LRU cache, and each view reads it. */
const rememberedEach = 500;
/** Longer ones are rare, would fill the memory, and are not cached. */
const rememberedLength = 200;

export type Referrers = {
  /**
   * The referring host, in lower case and without `www.`; `undefined` for the site's own pages and invalid values.
   */
  of(fields: Pick<RequestFields, 'referer' | 'host'>): string | undefined;
};

export function createReferrers(): Referrers {
  let recent = new Map<string, string>();
  let earlier = new Map<string, string>();

  function remember(referer: string, host: string): void {
    if (recent.size >= rememberedEach) {
      earlier = recent;
      recent = new Map();
    }
    recent.set(referer, host);
  }

  /** Empty if it has none. */
  function hostOf(referer: string): string {
    const known = recent.get(referer);
    if (known !== undefined) return known;
    const before = earlier.get(referer);
    const host = before ?? readHost(referer);
    if (referer.length <= rememberedLength) remember(ownCopy(referer), host);
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

function readHost(referer: string): string {
  const found = address.exec(referer)?.[1] ?? '';
  return found.length > hostMax || isNumber.test(found) ? '' : ownCopy(found.toLowerCase());
}

/** A copy, because a substring would keep the whole request head in memory. */
function ownCopy(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

/** Whether a Host field, which may end with a dot and a port, names this host. */
function isSameHost(field: string, host: string): boolean {
  // Most hosts differ in their first letter; bit 32 makes it lower case.
  if ((field.charCodeAt(0) | 32) !== (host.charCodeAt(0) | 32)) return false;
  if (field.length < host.length || field.slice(0, host.length).toLowerCase() !== host) return false;
  return field.length === host.length || /^\.?(?::[0-9]*)?$/.test(field.slice(host.length));
}
