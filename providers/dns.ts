/** Queries the public DNS: a resolver, and the name servers of a name's parent zone (RFC 1034). */
import { getServers } from 'node:dns';
import type { Answer, RecordType } from 'dns-packet';
import type { DnsAnswer } from '#rules/dns/observation.ts';
import { type DecodedPacket, exchange } from './dns/exchange.ts';
import { isPublicAddress } from './dns/public-address.ts';

export type AskedType = 'A' | 'AAAA' | 'CAA' | 'CNAME' | 'DS' | 'NS' | 'TXT';

/** The parent name servers' answers about a name. `ns` is found only if they delegate it to others. */
export type Delegation = { exists: 'yes' | 'no' | 'unknown'; ns: DnsAnswer; ds: DnsAnswer };

export type Dns = {
  /** The resolver's answer, in zone-file format but without quotes and final dots; for A and AAAA, through CNAMEs. */
  ask(name: string, type: AskedType): Promise<DnsAnswer>;
  /** Whether the resolver only answers with signature checks disabled (DNSSEC, RFC 4035 section 3.2.2). */
  isBogus(name: string): Promise<boolean>;
  askParent(name: string): Promise<Delegation>;
};

const unknown: DnsAnswer = { unknown: true };
const none: DnsAnswer = { none: true };
const serversAskedMax = 4;
const answersMax = 100;
const charsMax = 512;
/** The port of name servers on the internet. Another one is configured for name servers on this machine. */
const internetPort = 53;

type Options = {
  resolvers: readonly string[];
  port: number;
  /** Whether a name server of a zone may be queried at this address. */
  mayAsk?: (address: string) => boolean;
};

export function openDns({
  resolvers,
  port,
  mayAsk = port === internetPort ? isPublicAddress : () => true,
}: Options): Dns {
  const servers = resolvers.length > 0 ? resolvers : getServers().map(withPort);

  /** The first definite answer. Servers are queried one after the other. */
  async function resolve(name: string, type: RecordType, checking = true): Promise<DecodedPacket | undefined> {
    for (const server of [...servers, ...servers]) {
      const answer = await exchange(server, { name, type, recursion: true, checking });
      if (answer && isDefinite(answer)) return answer;
    }
    return undefined;
  }

  async function ask(name: string, type: AskedType): Promise<DnsAnswer> {
    const answer = await resolve(name, type);
    if (!answer) return unknown;
    const answers = answer.answers ?? [];
    // If the name is an alias, the answer also contains records of another zone, which say nothing about this one.
    return readAnswers(type === 'NS' ? answers.filter((one) => plain(one.name) === name) : answers, type);
  }

  /** Addresses of the name servers of the closest zone above the name; undefined if the query failed. */
  async function parentServers(name: string): Promise<string[] | undefined> {
    for (let parent = above(name); ; parent = above(parent)) {
      const ns = await ask(parent, 'NS');
      if ('unknown' in ns) return undefined;
      if ('found' in ns) return await addressesOf(ns.found.slice(0, serversAskedMax));
      if (parent === '.') return undefined;
    }
  }

  async function addressesOf(hosts: string[]): Promise<string[]> {
    const answers = await Promise.all(hosts.flatMap((host) => [ask(host, 'A'), ask(host, 'AAAA')]));
    const addresses = answers.flatMap((answer) => ('found' in answer ? answer.found : []));
    // Tenants choose the name servers of a zone above a name, and so their addresses.
    return addresses.filter(mayAsk);
  }

  return {
    ask,

    async isBogus(name) {
      if (await resolve(name, 'A')) return false;
      return (await resolve(name, 'A', false)) !== undefined;
    },

    async askParent(name) {
      const addresses = await parentServers(name);
      for (const address of (addresses ?? []).slice(0, serversAskedMax)) {
        const server = address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
        const referral = await exchange(server, { name, type: 'NS', recursion: false });
        if (!referral || !isDefinite(referral)) continue;
        if (referral.rcode === 'NXDOMAIN') return { exists: 'no', ns: none, ds: none };
        const ds = await exchange(server, { name, type: 'DS', recursion: false });
        const dsFound = ds && isDefinite(ds) ? readAnswers(ds.answers ?? [], 'DS') : unknown;
        return { exists: 'yes', ns: readReferral(referral, name), ds: dsFound };
      }
      return { exists: 'unknown', ns: unknown, ds: unknown };
    },
  };
}

function withPort(server: string): string {
  if (/^\[.*\]:\d+$|^[\d.]+:\d+$/.test(server)) return server;
  return server.includes(':') ? `[${server}]:53` : `${server}:53`;
}

function above(name: string): string {
  return name.includes('.') ? name.slice(name.indexOf('.') + 1) : '.';
}

const isDefinite = ({ rcode }: DecodedPacket): boolean => rcode === 'NOERROR' || rcode === 'NXDOMAIN';

/**
 * The delegation of the name. A server that has both the parent's zone and the name's own answers from the latter (with
 * authority), which says nothing about the parent's: anyone who can create zones on that server could have created it.
 */
function readReferral(packet: DecodedPacket, name: string): DnsAnswer {
  if (packet.flag_aa) return none;
  const isOfName = (answer: Answer) => plain(answer.name) === name;
  return readAnswers((packet.authorities ?? []).filter(isOfName), 'NS');
}

function readAnswers(answers: Answer[], type: AskedType): DnsAnswer {
  const found = answers.flatMap((answer) => (answer.type === type ? [bounded(textOf(answer))] : []));
  return found.length > 0 ? { found: found.slice(0, answersMax) } : none;
}

/** Anyone can publish any record, and we store and show it: no bytes that a row rejects, at most 64 KiB in all. */
function bounded(text: string): string {
  return text
    .slice(0, charsMax)
    .replaceAll(/\p{Cc}/gu, '\u{fffd}')
    .toWellFormed();
}

const plain = (name: string) => name.toLowerCase().replace(/\.$/, '');

function textOf(answer: Answer): string {
  if (answer.type === 'TXT') return [answer.data].flat().map(String).join('');
  if (answer.type === 'CAA') return `${answer.data.flags ?? 0} ${answer.data.tag} ${answer.data.value}`;
  if (answer.type === 'DS') return `${answer.data.keyTag} ${answer.data.algorithm}`;
  return plain(String('data' in answer ? answer.data : ''));
}
