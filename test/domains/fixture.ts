/** Domains against real name servers on loopback: PowerDNS with the zones that we hold, and the rest of the DNS beside it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Certificate } from '#db/certificates/certificate.ts';
import { ensureCertificate } from '#db/certificates/transitions.ts';
import { exchange } from '#providers/dns/exchange.ts';
import { type Answer, type Caller, createFixture, errorOf } from '#test/api/fixture.ts';
import { people } from '#test/invitations/fixture.ts';
import { memoryRoot } from '#test/stack/run-folder.ts';
import { createNamespace, startWorker } from '#test/stack/worker.ts';
import { type LocalDns, startLocalDns } from '#tools/local/dns/server.ts';
import { startPowerDns } from '#tools/local/services/powerdns.ts';

export const edgeAddresses = ['127.0.0.1', '::1'];
const nameServers = 'ns.platform.test';
export const cnameTarget = 'cname.platform.test';

export type DomainFixture = Awaited<ReturnType<typeof createDomainFixture>>;
type ApiFixture = Awaited<ReturnType<typeof createFixture>>;
type WorkerOptions = Parameters<typeof startWorker>[1];

/** Both name servers, as one thing to close. `env` binds the platform to them. */
export async function startNames() {
  const dir = await mkdtemp(join(memoryRoot(), 'frontage-names-'));
  const server = await startPowerDns({ dir, key: 'a key of the tests' });
  const dns = await startLocalDns({ ours: { address: server.address, under: nameServers } });
  dns.set(cnameTarget, 'A', '127.0.0.1');
  dns.set(cnameTarget, 'AAAA', '::1');
  return {
    dns,
    server,
    env: {
      FRONTAGE_DOMAINS: 'nameservers,cname',
      FRONTAGE_ZONES_URL: server.url,
      FRONTAGE_ZONES_KEY: server.key,
      FRONTAGE_DNS_RESOLVERS: dns.address,
      FRONTAGE_DNS_PORT: String(dns.port),
      FRONTAGE_NAMESERVERS: nameServers,
      FRONTAGE_CNAME_TARGET: cnameTarget,
      FRONTAGE_EDGE_ADDRESSES: edgeAddresses.join(','),
      FRONTAGE_DOMAINS_ENDINGS: 'test',
    },
    async close() {
      await dns.close();
      await server.kill();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

export async function createDomainFixture(
  env: Record<string, string> = {},
  { worker: workerOptions, ...options }: Parameters<typeof createFixture>[1] & { worker?: WorkerOptions | false } = {},
) {
  const names = await startNames();
  const fixture = await createFixture(
    { FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:9', ...names.env, TEMPORAL_NAMESPACE: await createNamespace(), ...env },
    options,
  );
  const worker = workerOptions === false ? undefined : await startWorker(fixture.deps, workerOptions);
  return {
    ...fixture,
    ...names,
    ...people(fixture),
    ...domains(fixture, names.dns),
    certify: certifier(fixture),
    /** What our own name server says, asked as any resolver would. */
    async zone(name: string, type: 'A' | 'AAAA' | 'CAA' | 'CNAME' | 'MX' | 'NS' | 'SOA' | 'SRV' | 'TXT') {
      const answer = await exchange(names.server.address, { name, type, recursion: false });
      // A name that is delegated on is answered with a referral.
      const said = [...(answer?.answers ?? []), ...(answer?.authorities ?? [])].filter((one) => one.type === type);
      return { rcode: answer?.rcode, answers: said.map(dataOf) };
    },
    async close() {
      await worker?.close();
      await fixture.close();
      await names.close();
    },
  };
}

/** As if a domain's certificate had been got, or were stopped by this; without a chain that could be shown. */
export function certifier({ deps, clock }: Pick<ApiFixture, 'deps' | 'clock'>) {
  return async ({ id, domain: name }: Pick<Shown, 'id' | 'domain'>, more: Partial<Certificate> = {}) => {
    const em = deps.em();
    const now = clock.now();
    const row = await ensureCertificate(em, now, { domainId: id, name });
    const end = new Date(now.getTime() + 90 * 86_400_000);
    const stands = {
      chain: 'x',
      sealedKey: Buffer.from('x'),
      notBefore: now,
      notAfter: end,
      renewAt: end,
      healthySince: now,
    };
    const state = more.problem ? { status: 'failed' as const } : { status: 'active' as const, ...stands };
    await em.nativeUpdate(Certificate, { id: row.id }, { ...state, ...more });
  };
}

function dataOf(answer: { type: string; data?: unknown }): unknown {
  return answer.type === 'TXT' ? [answer.data].flat().map(String).join('') : answer.data;
}

let count = 0;
/** A name under the local registry that no other test has. */
export const freeDomain = () => `shop-${process.pid}-${++count}.test`;

export type Shown = {
  id: string;
  domain: string;
  status: string;
  setup: { type: string; name: string; value: string; found: boolean; optional: boolean; seen: string[] }[];
  problems: string[];
  waiting_on: string | null;
  next_action?: string;
};

/** What an owner does, and what happens at the registrar and in the DNS. */
export function domains(fixture: { skip(ms: number): void }, dns: LocalDns) {
  async function bring(caller: Caller, mode: 'nameservers' | 'cname', domain = freeDomain()) {
    const { status, body, text } = await caller.call('POST', '/v1/domains', { body: { domain, mode } });
    if (status !== 200) throw new Error(`no domain was brought: ${text}`);
    return body as Shown;
  }

  /** What the owner would do at the registrar, or in their DNS. */
  function setUp({ domain, setup }: Shown): void {
    const servers = setup.filter(({ type }) => type === 'NS').map(({ value }) => value);
    if (servers.length > 0) dns.delegate(domain, ...servers);
    for (const type of ['TXT', 'CNAME', 'A', 'AAAA'] as const) {
      const entries = setup.filter((one) => one.type === type);
      if (entries[0]) dns.set(entries[0].name, type, ...entries.map(({ value }) => value));
    }
  }

  const read = async (caller: Caller, { id }: { id: string }) => (await caller.call('GET', `/v1/domains/${id}`)).body;

  /** Looks now, as a call does, when that is allowed again. */
  async function check(caller: Caller, { id }: { id: string }, afterMs = 5_000) {
    fixture.skip(afterMs);
    return await caller.call('POST', `/v1/domains/${id}/check`);
  }

  /** A domain of the caller's that leads here. */
  async function active(caller: Caller, mode: 'nameservers' | 'cname' = 'cname', domain = freeDomain()) {
    const shown = await bring(caller, mode, domain);
    setUp(shown);
    const { body } = await check(caller, shown);
    if (body.status !== 'active') throw new Error(`not active: ${JSON.stringify(body)}`);
    return body as Shown;
  }

  return { bring, setUp, read, check, active };
}

export const codeOf = (answer: Answer) => [answer.status, errorOf(answer).code];
