/**
 * Fifty domains, an authority that refuses half of all nonces, a resolver that fails it at each domain's first none to two validations, and workers
 * that are killed.
 * @module-tag pebble
 * @module-tag powerdns
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { challengePrefix } from '#rules/dns/names.ts';
import { type CertificateFixture, createFixture } from '#test/certificates/fixture.ts';
import { type LocalDns, startLocalDns } from '#tools/local/dns/server.ts';
import { numbersFrom } from '#tools/scripts/chance.ts';
import { seedOr, sized } from './size.ts';

const domains = 50;
const seed = seedOr(1);
const kills = sized({ short: 4, long: 40 });

const chance = numbersFrom(seed);
/** Of each domain, how many validations the resolver still fails. */
const failing = new Map<string, number>();
const domainOf = (name: string) => (name.startsWith(challengePrefix) ? name.slice(challengePrefix.length) : name);

let fixture: CertificateFixture;
let dns: LocalDns;
let worker: ChildProcess | undefined;

beforeAll(async () => {
  fixture = await createFixture({
    pebble: { refusedNoncePercent: 50, reusedAuthorizationPercent: 0 },
    // Between the authority and our name server, which answers for all that the test makes.
    resolver: async (address) => {
      dns = await startLocalDns({ ours: { address, under: 'ns.test' } });
      dns.fault = ({ name, type }) => {
        const domain = domainOf(name);
        const left = failing.get(domain) ?? 0;
        return left > 0 && ['TXT', 'A', 'AAAA'].includes(type) ? 'SERVFAIL' : undefined;
      };
      return dns;
    },
  });
  await fixture.openTlsEdge();
}, 60_000);
afterAll(async () => {
  worker?.kill('SIGKILL');
  await fixture?.close();
});

/** A worker's process that brings on what is due; our clock is ahead by so much in it. */
function startHand(aheadMs: number): ChildProcess {
  return fork(join(import.meta.dirname, '../certificates/hand.ts'), {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
      ...fixture.settings,
      AHEAD_MS: String(aheadMs),
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

test('despite killed workers all certificates are issued, with one order each within the limits', {
  timeout: 240_000,
}, async () => {
  for (let n = 0; n < domains; n++) {
    const name = `d${n}.campaign.test`;
    await fixture.pointHere(name);
    dns.delegate(name, 'a.ns.test');
    await fixture.addDomain(name, { mode: chance() < 0.5 ? 'nameservers' : 'cname' });
    failing.set(name, Math.floor(chance() * 3));
  }
  const wanted = new Map(failing);
  // A validation that failed was one refusal in the row.
  const forgive = (name: string) => failing.set(name, (failing.get(name) ?? 1) - 1);
  const refusals = new Map<string, number>();
  const settle = async () => {
    const { rows } = await fixture.db.query('select name, refusals, chain is not null as stands from certificate');
    for (const row of rows) {
      for (let n = refusals.get(row.name) ?? 0; n < row.refusals; n++) forgive(row.name);
      refusals.set(row.name, Math.max(row.refusals, refusals.get(row.name) ?? 0));
    }
    return rows.filter(({ stands }) => stands).length;
  };
  let aheadMs = 0;
  let killed = 0;
  for (let round = 0; ; round++) {
    worker = startHand(aheadMs);
    const ended = once(worker, 'exit');
    const killAfter = killed < kills ? 300 + chance() * 1_500 : 30_000;
    await Promise.race([ended, pause(killAfter)]);
    if (worker.exitCode === null) {
      worker.kill('SIGKILL');
      killed += 1;
    }
    await ended;
    if ((await settle()) === domains) break;
    // Past the next try of whoever was refused, and past the leases of the dead.
    aheadMs += 75_000;
    expect(round).toBeLessThan(kills + 12);
  }
  expect(killed).toBeGreaterThanOrEqual(kills);
  const { rows } = await fixture.db.query('select name, status, order_url, order_key, lease from certificate');
  expect(
    rows.every(({ status, order_url, order_key }) => status === 'active' && order_url === null && order_key === null),
  ).toBe(true);
  // What the authority has seen: one order for each certificate, and one for each validation that failed.
  const placed = readFileSync(join(fixture.authority.dir ?? '', 'pebble.log'), 'utf8').match(/Added order /g) ?? [];
  const sum = (numbers: Iterable<number>) => [...numbers].reduce((all, one) => all + one, 0);
  expect(sum(refusals.values())).toBe(sum(wanted.values()));
  expect(placed.length).toBe(domains + sum(wanted.values()));
  // Let's Encrypt's limits, the tightest there are: 300 orders in three hours, 5 failed validations of a name in one.
  expect(placed.length).toBeLessThan(300);
  expect(Math.max(...refusals.values())).toBeLessThanOrEqual(5);
});
