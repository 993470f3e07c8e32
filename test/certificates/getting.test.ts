/**
 * From a domain with right records to a page over TLS, with a certificate of the authority's.
 * @module-tag pebble
 * @module-tag powerdns
 */
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { certificateActivities } from '#activities/certificates.ts';
import { mailCertifiedDomain } from '#db/domains/transitions.ts';
import { readName } from '#rules/dns/names.ts';
import { page } from '#test/edge/shops.ts';
import { baseDomain, type CertificateFixture, createFixture } from './fixture.ts';
import { visit, visitHttp2 } from './visit.ts';

let fixture: CertificateFixture;
let edge: Awaited<ReturnType<CertificateFixture['openTlsEdge']>>;
beforeAll(async () => {
  fixture = await createFixture();
  edge = await fixture.openTlsEdge();
});
afterAll(() => fixture?.close());

test.each(['nameservers', 'cname'] as const)(
  'a domain in %s mode gets a certificate, and serves its site over TLS',
  async (mode) => {
    const host = `${mode}.example.test`;
    const { siteId } = await fixture.publish(`shop-${mode}`, { 'index.html': page('Front') });
    await fixture.pointHere(host);
    const id = await fixture.addDomain(host, { mode, siteId, isPrimary: true });
    // The owner is e-mailed that it is live once it has a certificate, and not before.
    const mailedAt = async () =>
      (await fixture.db.query('select live_mailed_at as at from domain where id = $1', [id])).rows[0].at;
    await mailCertifiedDomain(fixture.deps.em(), fixture.deps, id);
    expect(await mailedAt()).toBeNull();
    const { status, renewAt } = await fixture.renew(id);
    expect(status).toBe('active');
    await new MockActivityEnvironment().run(certificateActivities(fixture.deps).renewCertificate, id);
    expect(await mailedAt()).toBeInstanceOf(Date);
    expect(Date.parse(renewAt)).toBeGreaterThan(Date.now());
    const trip = { port: edge.tlsPort, host, root: fixture.authority.root };
    await expect.poll(async () => (await visit('/', trip)).status).toBe(200);
    expect((await visit('/', trip)).text).toContain('Front');
    expect((await visitHttp2('/', trip)).text).toContain('Front');
    expect((await fixture.db.query('select count(*)::int from acme_token')).rows[0].count).toBe(0);
    expect((await fixture.names.zones.read(host))?.filter(({ type }) => type === 'TXT')).toEqual([]);
  },
);

test.each(['nameservers', 'cname'] as const)('the longest allowed name gets a certificate in %s mode', async (mode) => {
  const part = (letter: string, length: number) => `${letter.repeat(length)}.`;
  const host = `${mode === 'cname' ? part('c', 45) : part('n', 45)}${part('a', 63)}${part('b', 63)}${part('d', 58)}test`;
  const longest = readName(host, ['test']);
  expect([host.length, longest, readName(`a${host}`, ['test'])]).toMatchObject([
    237,
    { name: host },
    { fault: 'invalid' },
  ]);
  await fixture.pointHere(host);
  expect((await fixture.renew(await fixture.addDomain(host, { mode }))).status).toBe('active');
});

test('the base domain and its hosts have one certificate if we serve its zone', async () => {
  await fixture.publish('ours', { 'index.html': page('Ours') });
  const { renewOwnCertificate } = certificateActivities(fixture.deps);
  const renew = async () =>
    ((await new MockActivityEnvironment().run(renewOwnCertificate)) as { status: string }).status;
  expect(await renew()).toBe('pending');
  expect(await fixture.rowOf(`*.${baseDomain}`)).toBeUndefined();
  await fixture.pointHere(baseDomain);
  expect(await renew()).toBe('active');
  const trip = { port: edge.tlsPort, root: fixture.authority.root };
  expect((await visit('/', { ...trip, host: `ours.${baseDomain}` })).text).toContain('Ours');
  expect((await visitHttp2('/', { ...trip, host: baseDomain })).status).toBe(200);
  await expect(visit('/', { ...trip, host: `a.b.${baseDomain}` })).rejects.toThrow();
});
