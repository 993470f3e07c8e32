/**
 * An issued certificate is checked before it is served, and differing clocks cause no orders.
 * @module-tag powerdns
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Certificate } from '#db/certificates/certificate.ts';
import { type Seen, startTestAuthority, type TestAuthority } from './authority.ts';
import { lookFor } from './eyes.ts';
import { type CertificateFixture, createFixture } from './fixture.ts';
import { createIssuer } from './issuer.ts';

let aheadMs = 0;
const clock = { now: () => new Date(Date.now() + aheadMs) };
const skip = (ms: number) => {
  aheadMs += ms;
};
const dayMs = 24 * 3600_000;

let authority: TestAuthority;
let fixture: CertificateFixture;
let whenAsked = () => {};
async function validate(seen: Seen) {
  whenAsked();
  return await lookFor(fixture, seen);
}
beforeAll(async () => {
  authority = await startTestAuthority({ clock, validate });
  fixture = await createFixture({ clock, authority });
  await fixture.openTlsEdge();
});
afterAll(() => fixture?.close());
beforeEach(() => {
  whenAsked = () => {};
});

let count = 0;
async function newDomain() {
  const name = `d${++count}.issued.test`;
  await fixture.pointHere(name);
  const orders = () => authority.orders.filter(({ names }) => names.includes(name));
  return { name, id: await fixture.addDomain(name, { mode: 'cname' }), orders };
}
const rowOf = (domainId: string) => fixture.deps.em().findOneOrFail(Certificate, { domainId });

test('only the ordered certificate is served; otherwise the order fails and is retried', async () => {
  const issuer = await createIssuer(clock.now());
  const names = ['another.issued.test', `d${count + 1}.issued.test`];
  const wrong = [...(await Promise.all(names.map((name) => issuer.make([name], clock.now())))), { chain: 'garbage' }];
  for (const { chain } of wrong) {
    const { id, orders } = await newDomain();
    whenAsked = () => {
      for (const order of orders()) Object.defineProperty(order, 'chain', { get: () => chain, set() {} });
    };
    expect((await fixture.renew(id)).status).toBe('failed');
    const row = await rowOf(id);
    expect(row).toMatchObject({ chain: null, orderKey: null, orderUrl: null, refusals: 1 });
    whenAsked = () => {};
    skip((row.nextTryAt?.getTime() ?? 0) - clock.now().getTime());
    expect((await fixture.renew(id)).status).toBe('active');
    expect(orders()).toHaveLength(2);
  }
});

test.each([
  { days: 75, status: 'active' },
  { days: 400, status: 'failed' },
])('a certificate is not ordered repeatedly if its clock is $days days behind ours', async ({ days, status }) => {
  const { id, orders } = await newDomain();
  // From the moment at which it looks to that at which it has issued.
  whenAsked = () => {
    whenAsked = () => {};
    skip(-days * dayMs);
    let chain: string | undefined;
    const give = (issued: string) => {
      chain = issued;
      skip(days * dayMs);
    };
    for (const order of orders()) Object.defineProperty(order, 'chain', { get: () => chain, set: give });
  };
  const { renewAt, ...said } = await fixture.renew(id);
  expect(said.status).toBe(status);
  expect(Date.parse(renewAt) - clock.now().getTime()).toBeGreaterThan(10_000);
  await fixture.renew(id);
  expect(orders()).toHaveLength(1);
});
