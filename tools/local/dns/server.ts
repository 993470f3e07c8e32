/**
 * A local DNS: registries, where names are registered and delegated, and the owner's own DNS. For queries with
 * recursion desired it is a resolver, which queries our name server for zones delegated to it. In memory; UDP and TCP
 * (RFC 1034, RFC 7766).
 */
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import {
  type Answer,
  AUTHORITATIVE_ANSWER,
  decode,
  encode,
  RECURSION_AVAILABLE,
  type StringRecordType,
} from 'dns-packet';
import { exchange } from '#providers/dns/exchange.ts';

export type LocalType = 'A' | 'AAAA' | 'CAA' | 'CNAME' | 'DS' | 'NS' | 'TXT';
export type Question = { name: string; type: string; recursion: boolean; checking: boolean };
/** An error response, or none at all. */
export type Fault = 'SERVFAIL' | 'REFUSED' | 'silence' | undefined;

export type LocalDns = {
  address: string;
  port: number;
  /**
   * Replaces all records of a name and type; without values it deletes them. CAA as `0 issue "x"`, texts as they are.
   */
  set(name: string, type: LocalType, ...values: string[]): void;
  /** Deletes a name from its registry, with everything below it. */
  forget(name: string): void;
  /** Delegates a name to name servers, as its registrar would. The resolver queries ours for zones delegated to it. */
  delegate(name: string, ...servers: string[]): void;
  /** Called before each response. */
  fault: (question: Question) => Fault;
  asked: Question[];
  close(): Promise<void>;
};

const rcodes = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 } as const;
type Reply = { rcode: keyof typeof rcodes; answers?: Answer[]; authorities?: Answer[]; authoritative?: boolean };

const udpBytesMax = 1232;
const isWithin = (name: string, above: string) => name === above || name.endsWith(`.${above}`);

/**
 * `ending` is the registry's own name, such as `test`; `ours` is the address of our name server and the parent name of
 * its hosts.
 */
export async function startLocalDns({
  ending = 'test',
  ours,
  port: wanted = 0,
}: {
  ending?: string;
  ours?: { address: string; under: string };
  port?: number;
}): Promise<LocalDns> {
  const records = new Map<string, string[]>();
  const delegations = new Map<string, string[]>();
  const keyOf = (name: string, type: string) => `${name} ${type}`;

  const valuesOf = (name: string, type: string): string[] => {
    const own = records.get(keyOf(name, type));
    if (own || exists(name)) return own ?? [];
    return records.get(keyOf(`*.${name.slice(name.indexOf('.') + 1)}`, type)) ?? [];
  };
  const exists = (name: string) =>
    name === ending || [...records.keys()].some((key) => isWithin(key.split(' ')[0] ?? '', name));
  const isThere = (name: string) =>
    exists(name) || ['A', 'AAAA', 'TXT', 'CNAME'].some((type) => valuesOf(name, type).length > 0);

  /** The closest delegated name at or above this one. */
  function cutAbove(name: string): string | undefined {
    for (let rest = name; ; rest = rest.slice(rest.indexOf('.') + 1)) {
      if (delegations.has(rest)) return rest;
      if (!rest.includes('.')) return undefined;
    }
  }

  function answersOf(name: string, type: string): Answer[] {
    const found = valuesOf(name, type).map((value) => answerOf(name, type, value));
    const [alias] = type === 'CNAME' ? [] : valuesOf(name, 'CNAME');
    if (alias === undefined) return found;
    return [answerOf(name, 'CNAME', alias), ...answersOf(alias, type)];
  }

  /** Responds as a registry's own name server. */
  function authoritative({ name, type }: Question): Reply {
    const cut = cutAbove(name);
    if (cut !== undefined && !(cut === name && type === 'DS')) {
      const servers = delegations.get(cut) ?? [];
      return { rcode: 'NOERROR', authorities: servers.map((server) => answerOf(cut, 'NS', server)) };
    }
    const rcode = cut !== undefined || isThere(name) ? 'NOERROR' : 'NXDOMAIN';
    return { rcode, answers: answersOf(name, type), authoritative: true };
  }

  /** Responds as a resolver. */
  async function recursive({ name, type }: Pick<Question, 'name' | 'type'>): Promise<Reply> {
    const cut = cutAbove(name);
    if (cut !== undefined && !(cut === name && type === 'DS')) {
      const isOurs = ours && (delegations.get(cut) ?? []).some((server) => isWithin(server, ours.under));
      const answer = isOurs && (await exchange(ours.address, { name, type: type as LocalType, recursion: false }));
      if (!answer || (answer.rcode !== 'NOERROR' && answer.rcode !== 'NXDOMAIN')) return { rcode: 'SERVFAIL' };
      const answers = [...(answer.answers ?? [])];
      const last = answers.at(-1);
      // The resolver follows an alias into another zone.
      if (type !== 'CNAME' && last?.type === 'CNAME') {
        answers.push(...((await recursive({ name: String(last.data).toLowerCase(), type })).answers ?? []));
      }
      return { rcode: answer.rcode, answers, authorities: answer.authorities ?? [] };
    }
    return { rcode: isThere(name) ? 'NOERROR' : 'NXDOMAIN', answers: answersOf(name, type) };
  }

  async function reply(bytes: Buffer): Promise<((sizeMax?: number) => Buffer) | undefined> {
    const query = decode(bytes);
    const [asked] = query.questions ?? [];
    if (!asked) return undefined;
    const { flag_rd: recursion, flag_cd } = query;
    const question = { name: asked.name.toLowerCase(), type: asked.type, recursion, checking: !flag_cd };
    dns.asked.push(question);
    const fault = dns.fault(question);
    if (fault === 'silence') return undefined;
    const result = fault ? { rcode: fault } : recursion ? await recursive(question) : authoritative(question);
    const { rcode, answers = [], authorities = [], authoritative: isOwn = false } = result as Reply;
    const flags = rcodes[rcode] | (recursion ? RECURSION_AVAILABLE | 0x100 : 0) | (isOwn ? AUTHORITATIVE_ANSWER : 0);
    return (sizeMax = 65_535) => {
      const packet = { type: 'response' as const, id: query.id ?? 0, questions: [asked] };
      const whole = encode({ ...packet, flags, answers, authorities });
      return whole.length <= sizeMax ? whole : encode({ ...packet, flags: flags | 0x200 });
    };
  }

  const udp = createSocket('udp4');
  udp.on('message', (bytes, from) => {
    void reply(bytes)
      .then((write) => write && udp.send(write(udpBytesMax), from.port, from.address))
      .catch(() => {});
  });
  const tcp = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (bytes) => {
      void reply(bytes.subarray(2))
        .then((write) => write && socket.end(withLength(write())))
        .catch(() => socket.destroy());
    });
  });
  const port = await listen();

  /** UDP and TCP use the same port. */
  async function listen(): Promise<number> {
    await new Promise<void>((resolve) => tcp.listen(wanted, '127.0.0.1', resolve));
    const { port } = tcp.address() as { port: number };
    await new Promise<void>((resolve, reject) => {
      udp.once('error', reject);
      udp.bind(port, '127.0.0.1', resolve);
    });
    return port;
  }

  const dns: LocalDns = {
    address: `127.0.0.1:${port}`,
    port,
    set(name, type, ...values) {
      if (values.length === 0) records.delete(keyOf(name, type));
      else records.set(keyOf(name, type), values);
    },
    forget(name) {
      for (const key of records.keys()) if (isWithin(key.split(' ')[0] ?? '', name)) records.delete(key);
      for (const cut of delegations.keys()) if (isWithin(cut, name)) delegations.delete(cut);
    },
    delegate(name, ...servers) {
      if (servers.length === 0) delegations.delete(name);
      else delegations.set(name, servers);
    },
    fault: () => undefined,
    asked: [],
    async close() {
      udp.close();
      await new Promise<void>((resolve) => tcp.close(() => resolve()));
    },
  };
  dns.set(ending, 'NS', `ns.registry.${ending}`);
  dns.set(`ns.registry.${ending}`, 'A', '127.0.0.1');
  return dns;
}

/** Adds the length prefix for TCP (RFC 1035 section 4.2.2). */
function withLength(packet: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(packet.length);
  return Buffer.concat([length, packet]);
}

function answerOf(name: string, type: string, value: string): Answer {
  if (type === 'TXT') return { name, type, ttl: 1, data: value.match(/[\s\S]{1,255}/g) ?? [''] };
  if (type === 'DS')
    return { name, type, ttl: 1, data: { keyTag: 1, algorithm: 13, digestType: 2, digest: Buffer.alloc(32, 1) } };
  if (type === 'CAA') {
    const [, flags, tag = 'issue', text = ''] = /^(\d+) (\w+) "(.*)"$/.exec(value) ?? [];
    return { name, type, ttl: 1, data: { flags: Number(flags), tag: tag as 'issue', value: text } };
  }
  return { name, type: type as StringRecordType, ttl: 1, data: value };
}
