/** Which site a request is for. Only the request's own words count: forwarded headers are a visitor's to forge. */

export type RequestAddress = {
  /** Lower case, without port and trailing dot; empty when it can name no site, as an IP address. */
  host: string;
  /** Origin form: the path with its query, as it was sent. */
  target: string;
};

const authority = /^([a-z0-9_.-]{1,255}?)\.?(?::[0-9]{0,5})?$/i;
const addressLiteral = /^\[[0-9a-f:.]{2,45}\](?::[0-9]{0,5})?$/i;

/**
 * The host and target that a request line and its Host field name, or `undefined` for a request that is no good.
 * An absolute target overrules the Host field (RFC 9112 section 3.2.2).
 */
export function readAddress(target: string, hostField: string | undefined): RequestAddress | undefined {
  if (hostField === undefined) return undefined;
  if (target.charCodeAt(0) === 47 /* / */) return addressOf(hostField, target);
  const absolute = /^https?:\/\/([^/?#]+)(.*)$/i.exec(target);
  if (!absolute) return undefined;
  const [, host = '', rest = ''] = absolute;
  return addressOf(host, rest.startsWith('/') ? rest : `/${rest}`);
}

function addressOf(field: string, target: string): RequestAddress | undefined {
  const host = authority.exec(field)?.[1];
  if (host !== undefined) return { host: host.toLowerCase(), target };
  return addressLiteral.test(field) ? { host: '', target } : undefined;
}

/** The name that a host gives a site: `name` of `name.<base domain>`. Whether there is such a site is for the table to say. */
export function siteNameOf(host: string, baseDomain: string): string | undefined {
  const end = host.length - baseDomain.length - 1;
  if (end < 1 || host.charCodeAt(end) !== 46 /* . */ || !host.endsWith(baseDomain)) return undefined;
  return host.slice(0, end);
}

/** Under which name the certificate of a host stands: hosts of ours, the base domain and one level below it, have one together. */
export function certificateNameOf(host: string, baseDomain: string): string {
  const isOurs = host === baseDomain || siteNameOf(host, baseDomain)?.includes('.') === false;
  return isOurs ? `*.${baseDomain}` : host;
}
