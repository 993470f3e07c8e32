/**
 * Our own check before an order: missing records are waited for without an order.
 * @module-tag powerdns
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { renewIfDue } from '#activities/certificates/renew.ts';
import { Certificate } from '#db/certificates/certificate.ts';
import { preflightName } from '#rules/dns/challenges.ts';
import { createFaultyFixture, type FaultyFixture } from './faulty-fixture.ts';

let fixture: FaultyFixture['fixture'];
let clock: FaultyFixture['clock'];
let skip: FaultyFixture['skip'];
let newName: FaultyFixture['newName'];
let newDomain: FaultyFixture['newDomain'];
let untilActive: FaultyFixture['untilActive'];

beforeAll(async () => {
  ({ fixture, clock, skip, newName, newDomain, untilActive } = await createFaultyFixture());
});
afterAll(() => fixture?.close());

const rowOf = (domainId: string) => fixture.deps.em().findOneOrFail(Certificate, { domainId });

test('a name that points elsewhere waits, and causes no order', async () => {
  const { id, name, orders } = await newDomain('cname', '127.0.0.9');
  for (let n = 0; n < 4; n++) {
    const { status, renewAt } = await fixture.renew(id);
    expect(status).toBe('validating');
    skip(Date.parse(renewAt) - clock.now().getTime());
  }
  expect(orders()).toEqual([]);
  expect((await rowOf(id)).problem).toBe('A different server responds to HTTP requests for this domain at 127.0.0.9.');
  await fixture.names.zones.replace(name, [{ name: `${name}.`, type: 'A', ttl: 60, contents: ['127.0.0.1'] }]);
  expect(await untilActive(id)).toBe(1);
});

test('a zone without delegation waits', { timeout: 30_000 }, async () => {
  const { id, name, orders } = await newDomain('nameservers');
  const away = { ...fixture.deps, dns: { ...fixture.deps.dns, ask: async () => ({ none: true as const }) } };
  const wanted = { domainId: id, name, names: [name], validation: { kind: 'dns-01' as const, zone: name } };
  expect(
    (await renewIfDue({ ...fixture.certificateDeps(), dns: away.dns, visibleWithinMs: 1_000 }, wanted, () => {}))
      .status,
  ).toBe('validating');
  expect(orders()).toEqual([]);
  expect((await fixture.names.zones.read(name))?.filter(({ type }) => type === 'TXT')).toEqual([]);
  skip(60_000);
  await untilActive(id);
});

test('probes of killed workers are removed by the next', async () => {
  const { id, name } = await newDomain('nameservers');
  const left = { name: `${preflightName(name, '0123abcde')}.`, type: 'TXT', ttl: 60, contents: ['"here"'] };
  await fixture.names.zones.replace(name, [left]);
  await untilActive(id);
  expect((await fixture.names.zones.read(name))?.filter(({ type }) => type === 'TXT')).toEqual([]);
});

test('a name without an address is distinguished from an unavailable DNS', async () => {
  const name = newName();
  const id = await fixture.addDomain(name);
  await fixture.renew(id);
  expect((await rowOf(id)).problem).toBe('The DNS of this domain cannot be checked at the moment.');
  await fixture.names.zones.create(name, [{ name: `${name}.`, type: 'NS', ttl: 60, contents: ['ns.test.'] }]);
  skip(60_000);
  await fixture.renew(id);
  expect((await rowOf(id)).problem).toBe('This domain has no address record (A or AAAA) in the DNS yet.');
});
