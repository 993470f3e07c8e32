/** Finds the site of a request. Forwarded headers are ignored: visitors can forge them. */

export type RequestAddress = {
  /** Lower case, without port and trailing dot; empty if it can be no site, such as an IP address. */
  host: string;
  /** Origin form: path and query, as sent. */
  target: string;
};

const authority = /^([a-z0-9_.-]{1,255}?)\.?(?::[0-9]{0,5})?$/i;
const addressLiteral = /^\[[0-9a-f:.]{2,45}\](?::[0-9]{0,5})?$/i;

/**
 * Host and target of a request line and its Host field; `undefined` for a bad request. An absolute target overrides the Host field
 * (RFC 9112 section 3.2.2).
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

/** The site name of a host: `name` of `name.<base domain>`. Does not check that the site exists. */
export function siteNameOf(host: string, baseDomain: string): string | undefined {
  const end = host.length - baseDomain.length - 1;
  if (end < 1 || host.charCodeAt(end) !== 46 /* . */ || !host.endsWith(baseDomain)) return undefined;
  return host.slice(0, end);
}

/** Certificate name of a host. The base domain and hosts one level below it share one certificate. */
export function certificateNameOf(host: string, baseDomain: string): string {
  const isOurs = host === baseDomain || siteNameOf(host, baseDomain)?.includes('.') === false;
  return isOurs ? `*.${baseDomain}` : host;
}
