/** Visitors for counting: person or robot, device, address. Only in memory, and only while the connection is open. */

import type { Socket } from 'node:net';
import { isIP } from 'node:net';
import proxyAddress from '@fastify/proxy-addr';
import { isbot } from 'isbot';
import { LRUCache } from 'lru-cache';
import { networkOf } from '#edge/http/network.ts';
import type { VisitorRequest } from '#edge/http/request.ts';

export const devices = ['desktop', 'mobile', 'tablet'] as const;
export type Device = (typeof devices)[number];

export type Visitor = {
  userAgent: string;
  device: Device;
  /** Two letters, if a trusted proxy sent them. */
  country: string | undefined;
  /** An IPv4 address, or the /64 network of an IPv6 one, within which a visitor's address changes hourly. */
  address: string;
  /** The counter that last counted this visitor; a cache for the page view counter. */
  countedIn: object | undefined;
};

export type Visitors = {
  /** The visitor; `undefined` for a robot. */
  of(request: VisitorRequest, socket: Socket): Visitor | undefined;
};

type Options = {
  /** Addresses and networks whose `x-forwarded-for` and country are trusted. */
  trustedProxies: string[];
  /** In lower case; empty for none. */
  countryHeader: string;
};

const userAgentMax = 512;
const agentsMax = 4_000;
const behindProxiesMax = 20_000;

export function createVisitors({ trustedProxies, countryHeader }: Options): Visitors {
  const isTrusted = proxyAddress.compile(trustedProxies);
  const byConnection = new WeakMap<Socket, Visitor | 'robot' | 'proxy'>();
  const agents = new LRUCache<string, Device | 'robot'>({ max: agentsMax });
  // A proxy's connection has many visitors, each for a request or two.
  const behindProxies = new LRUCache<string, Visitor>({ max: behindProxiesMax });

  function deviceOf(userAgent: string): Device | 'robot' {
    const known = agents.get(userAgent);
    if (known) return known;
    const device = classify(userAgent);
    agents.set(userAgent, device);
    return device;
  }

  function newVisitor(userAgent: string, address: string, country: string | undefined): Visitor | 'robot' {
    const device = deviceOf(userAgent);
    return device === 'robot' ? device : { userAgent, device, country, address, countedIn: undefined };
  }

  /** A browser's connection has one visitor. */
  function identify(request: VisitorRequest, socket: Socket): Visitor | 'robot' | 'proxy' {
    const remote = socket.remoteAddress ?? '';
    if (isTrusted(remote, 0)) return 'proxy';
    return newVisitor(ownCopy(request.fields.userAgent), networkOf(remote), undefined);
  }

  function throughProxy({ fields, raw }: VisitorRequest, socket: Socket): Visitor | undefined {
    const userAgent = ownCopy(fields.userAgent);
    const forwarded = fieldOf(raw, 'x-forwarded-for');
    const address = networkOf(clientBehind(socket.remoteAddress ?? '', forwarded, isTrusted));
    const said = countryHeader === '' ? undefined : fieldOf(raw, countryHeader);
    const country = said !== undefined && /^[A-Z]{2}$/.test(said) && !unknownCountries.has(said) ? said : undefined;
    const key = `${address} ${country} ${userAgent}`;
    const known = behindProxies.get(key);
    if (known) return known;
    const visitor = newVisitor(userAgent, address, country);
    if (visitor === 'robot') return undefined;
    behindProxies.set(key, visitor);
    return visitor;
  }

  return {
    of(request, socket) {
      let known = byConnection.get(socket);
      if (known === undefined) {
        known = identify(request, socket);
        byConnection.set(socket, known);
      }
      if (known === 'proxy') return throughProxy(request, socket);
      return known === 'robot' ? undefined : known;
    },
  };
}

/** Codes of proxies for unknown countries and anonymising networks. */
const unknownCountries: ReadonlySet<string> = new Set(['XX', 'ZZ']);

function classify(userAgent: string): Device | 'robot' {
  if (userAgent === '' || isbot(userAgent)) return 'robot';
  if (/iPad|Tablet|PlayBook|Silk(?!.*Mobile)|Android(?!.*Mobile)/i.test(userAgent)) return 'tablet';
  return /Mobi|iPhone|iPod|Android|IEMobile|Opera Mini/i.test(userAgent) ? 'mobile' : 'desktop';
}

/** A copy, because a substring would keep the whole request head in memory. */
function ownCopy(text: string | undefined): string {
  return text === undefined ? '' : Buffer.from(text.slice(0, userAgentMax), 'latin1').toString('latin1');
}

/** Names are lower case if they came by the fast path. */
function fieldOf(raw: readonly string[], name: string): string | undefined {
  let value: string | undefined;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const known = raw[i] as string;
    if (known.length === name.length && known.toLowerCase() === name)
      value = value === undefined ? raw[i + 1] : `${value}, ${raw[i + 1]}`;
  }
  return value;
}

/** The last address that a trusted proxy reported. */
function clientBehind(
  remote: string,
  forwarded: string | undefined,
  isTrusted: (address: string, hop: number) => boolean,
): string {
  const hops = forwarded === undefined ? [] : forwarded.split(',').map((hop) => hop.trim());
  let client = remote;
  while (hops.length > 0 && isTrusted(client, 0)) {
    const next = hops.pop() as string;
    if (!isIP(next)) break;
    client = next;
  }
  return client;
}
