/** From a domain with right records to a page over TLS, with a certificate of the authority's. */
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { certificateActivities } from '#activities/certificates.ts';
import { readName } from '#rules/dns/names.ts';
import { page } from '#test/edge/shops.ts';
import { visit, visitHttp2 } from './visit.ts';
import { baseDomain, type CertificateWorld, createWorld } from './world.ts';

let world: CertificateWorld;
let edge: Awaited<ReturnType<CertificateWorld['openTlsEdge']>>;
beforeAll(async () => {
  world = await createWorld();
  edge = await world.openTlsEdge();
});
afterAll(() => world?.close());

test.each(['nameservers', 'cname'] as const)(
  'a domain in %s mode gets a certificate, and shows its site over TLS',
  async (mode) => {
    const host = `${mode}.example.test`;
    const { siteId } = await world.publish(`shop-${mode}`, { 'index.html': page('Front') });
    await world.pointHere(host);
    const id = await world.addDomain(host, { mode, siteId, isPrimary: true });
    const { status, renewAt } = await world.renew(id);
    expect(status).toBe('active');
    expect(Date.parse(renewAt)).toBeGreaterThan(Date.now());
    const trip = { port: edge.tlsPort, host, root: world.authority.root };
    await expect.poll(async () => (await visit('/', trip)).status).toBe(200);
    expect((await visit('/', trip)).text).toContain('Front');
    expect((await visitHttp2('/', trip)).text).toContain('Front');
    expect((await world.db.query('select count(*)::int from acme_token')).rows[0].count).toBe(0);
    expect((await world.names.zones.read(host))?.filter(({ type }) => type === 'TXT')).toEqual([]);
  },
);

test.each(['nameservers', 'cname'] as const)('so does the longest name that is taken, in %s mode', async (mode) => {
  const part = (letter: string, length: number) => `${letter.repeat(length)}.`;
  const host = `${mode === 'cname' ? part('c', 45) : part('n', 45)}${part('a', 63)}${part('b', 63)}${part('d', 58)}test`;
  const longest = readName(host, ['test']);
  expect([host.length, longest, readName(`a${host}`, ['test'])]).toMatchObject([
    237,
    { name: host },
    { fault: 'invalid' },
  ]);
  await world.pointHere(host);
  expect((await world.renew(await world.addDomain(host, { mode }))).status).toBe('active');
});

test('the base domain and each host below it have one certificate, where its zone is ours', async () => {
  await world.publish('ours', { 'index.html': page('Ours') });
  const { renewOwnCertificate } = certificateActivities(world.deps);
  const renew = async () =>
    ((await new MockActivityEnvironment().run(renewOwnCertificate)) as { status: string }).status;
  expect(await renew()).toBe('pending');
  expect(await world.rowOf(`*.${baseDomain}`)).toBeUndefined();
  await world.pointHere(baseDomain);
  expect(await renew()).toBe('active');
  const trip = { port: edge.tlsPort, root: world.authority.root };
  expect((await visit('/', { ...trip, host: `ours.${baseDomain}` })).text).toContain('Ours');
  expect((await visitHttp2('/', { ...trip, host: baseDomain })).status).toBe(200);
  await expect(visit('/', { ...trip, host: `a.b.${baseDomain}` })).rejects.toThrow();
});
