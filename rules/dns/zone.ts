/** The contents of a hosted zone, from its domains and the owner's records. Pure. */
import { isIPv6 } from 'node:net';
import type { RecordType } from '#rules/states.ts';
import { isChallengeName } from './challenges.ts';

/** The pair of name servers of one onboarding: two unique names with the addresses of all others. */
export function nameServersOf({ pair }: { pair: string }, base: string): [string, string] {
  return [`${pair}.a.${base}`, `${pair}.b.${base}`];
}

export type ZoneRecord = { type: RecordType; name: string; content: string; ttl: number; priority: number | null };
/** In the name server's format: names with a trailing dot, texts in quotes. */
export type ZoneSet = { name: string; type: string; ttl: number; contents: string[] };

const ownTtl = 300;
const zoneTtl = 3600;

/** The platform's own records in a hosted zone. */
export function ownRecords(
  name: string,
  edgeAddresses: readonly string[],
  nameServers: readonly string[],
): ZoneRecord[] {
  const record = (type: RecordType, content: string, ttl: number): ZoneRecord => ({
    type,
    name,
    content,
    ttl,
    priority: null,
  });
  return [
    ...nameServers.map((content) => record('NS', content, zoneTtl)),
    ...edgeAddresses.map((content) => record(isIPv6(content) ? 'AAAA' : 'A', content, ownTtl)),
  ];
}

/**
 * The record sets of a zone. Before a proof it has only SOA and NS: the name server pairs of all accounts that try to
 * prove it.
 */
export function zoneSets(
  name: string,
  { pairs, records }: { pairs: readonly string[]; records: readonly ZoneRecord[] },
  base: string,
): ZoneSet[] {
  const servers = pairs.flatMap((pair) => nameServersOf({ pair }, base));
  const soa = `${servers[0]}. hostmaster.${base}. 1 10800 3600 604800 300`;
  const sets = new Map<string, ZoneSet>([
    [`SOA ${name}`, { name: `${name}.`, type: 'SOA', ttl: zoneTtl, contents: [soa] }],
  ]);
  const ns = servers.map((content): ZoneRecord => ({ type: 'NS', name, content, ttl: zoneTtl, priority: null }));
  for (const record of [...ns, ...records]) {
    const key = `${record.type} ${record.name}`;
    const set = sets.get(key) ?? { name: `${record.name}.`, type: record.type, ttl: record.ttl, contents: [] };
    set.ttl = Math.min(set.ttl, record.ttl);
    const content = contentOf(record);
    if (!set.contents.includes(content)) set.contents.push(content);
    sets.set(key, set);
  }
  return [...sets.values()];
}

/** In the format of a zone file (RFC 1035 section 5.1). */
export function contentOf({ type, content, priority }: Pick<ZoneRecord, 'type' | 'content' | 'priority'>): string {
  if (type === 'TXT') return quoted(content);
  if (type === 'CNAME' || type === 'NS') return `${content}.`;
  if (type === 'MX') return `${priority} ${dotted(content)}`;
  if (type === 'SRV') {
    const [weight, port, target = ''] = content.split(' ');
    return `${priority} ${weight} ${port} ${dotted(target)}`;
  }
  return content;
}

const dotted = (name: string) => (name === '.' ? '.' : `${name}.`);

const stringBytesMax = 255;

/** Strings of at most 255 bytes; bytes other than printable ASCII as `\\DDD`. */
function quoted(text: string): string {
  const bytes = Buffer.from(text);
  const strings: string[] = [];
  for (let start = 0; start < bytes.length || start === 0; start += stringBytesMax) {
    const part = [...bytes.subarray(start, start + stringBytesMax)].map((byte) => {
      if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`;
      return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\${String(byte).padStart(3, '0')}`;
    });
    strings.push(`"${part.join('')}"`);
  }
  return strings.join(' ');
}

/**
 * The changes from the current zone to the wanted one; a set without contents is removed. The name server sets the
 * serial number.
 */
export function zoneChanges(zone: string, there: readonly ZoneSet[], wanted: readonly ZoneSet[]): ZoneSet[] {
  const keyOf = ({ name, type }: ZoneSet) => `${type} ${name}`;
  const have = new Map(there.map((set) => [keyOf(set), set]));
  const want = new Map(wanted.map((set) => [keyOf(set), set]));
  const isSame = (a: ZoneSet, b: ZoneSet | undefined) =>
    b !== undefined && a.ttl === b.ttl && [...a.contents].sort().join('\n') === [...b.contents].sort().join('\n');
  const changed = wanted.filter((set) => set.type !== 'SOA' && !isSame(set, have.get(keyOf(set))));
  const gone = there.filter(
    (set) => set.type !== 'SOA' && !want.has(keyOf(set)) && !isChallengeName(set.name.slice(0, -1), zone),
  );
  return [...gone.map((set) => ({ ...set, contents: [] })), ...changed];
}
