/**
 * Responses of the edge over TLS, and redirects of plain HTTP.
 * @module-tag pebble
 * @module-tag powerdns
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clearCertificate } from '#db/certificates/transitions.ts';
import type { CertificatesDatabase } from '#edge/http/certificates-database.ts';
import { ask } from '#test/edge/fixture.ts';
import { createShops, page } from '#test/edge/shops.ts';
import { quickest } from '#test/stack/quickest.ts';
import { baseDomain, type CertificateFixture, createFixture } from './fixture.ts';
import { giveCertificate } from './given.ts';
import { createIssuer, type Issuer } from './issuer.ts';
import { shake, visit, visitHttp2 } from './visit.ts';

let fixture: CertificateFixture;
let edge: Awaited<ReturnType<CertificateFixture['openTlsEdge']>>;
let issuer: Issuer;
const trip = (host: string) => ({ port: edge.tlsPort, host, root: issuer.root });
const plain = (path: string, host: string) => ask(edge.port, path, { host });

beforeAll(async () => {
  fixture = await createFixture({ edgeFixture: createShops });
  issuer = await createIssuer(new Date());
  await giveCertificate(fixture, issuer, { name: `*.${baseDomain}` });
  edge = await fixture.openTlsEdge();
});
afterAll(() => fixture?.close());

let count = 0;
/** A site with a domain that has a certificate. */
async function newShop({ isPrimary = true, certified = true } = {}) {
  const name = `shop${++count}`;
  const host = `www.${name}.test`;
  const { siteId } = await fixture.publish(name, { 'index.html': page(name), 'a.txt': name });
  const domainId = await fixture.addDomain(host, { siteId, isPrimary });
  if (certified) await giveCertificate(fixture, issuer, { name: host, domainId });
  return { name, host, siteId, domainId, own: `${name}.${baseDomain}` };
}
const leadsTo = (host: string, path = '/') => ({
  status: 308,
  headers: expect.objectContaining({ location: `https://${host}:${fixture.tlsPort}${path}` }),
});

test('plain HTTP redirects to TLS only once a certificate exists, with path and query', async () => {
  const { host, domainId } = await newShop({ certified: false });
  await expect.poll(async () => (await plain('/a.txt', host)).status).toBe(200);
  await giveCertificate(fixture, issuer, { name: host, domainId });
  await expect.poll(() => plain('/a.txt?b=c%20d', host)).toMatchObject(leadsTo(host, '/a.txt?b=c%20d'));
  expect(await visit('/a.txt', trip(host))).toMatchObject({ status: 200 });
  expect(await plain('/', `shop.${baseDomain}`)).toMatchObject(leadsTo(`shop.${baseDomain}`));
});

test('challenges are answered over plain HTTP, only for their host', async () => {
  const { host, own } = await newShop();
  await expect.poll(async () => (await plain('/', host)).status).toBe(308);
  const token = 'a-token-of-some-length-0123456789';
  const { rows } = await fixture.db.query('select id from certificate where name = $1', [host]);
  await fixture.db.query('insert into acme_token (token, certificate_id, answer) values ($1, $2, $3)', [
    token,
    rows[0].id,
    'its answer',
  ]);
  const path = `/.well-known/acme-challenge/${token}`;
  expect(await plain(path, host)).toMatchObject({ status: 200, text: 'its answer' });
  expect((await visit(path, trip(host))).text).toBe('its answer');
  expect((await plain(path, own)).status).toBe(404);
  expect((await plain(`${path}-other`, host)).status).toBe(404);
});

test('a site’s other domains and its platform address redirect to the primary domain', async () => {
  const { host, siteId, own, domainId } = await newShop();
  const further = `further.${host}`;
  const furtherId = await fixture.addDomain(further, { siteId });
  await giveCertificate(fixture, issuer, { name: further, domainId: furtherId });
  await expect.poll(() => visit('/a.txt?x', trip(further))).toMatchObject(leadsTo(host, '/a.txt?x'));
  await expect.poll(() => visit('/', trip(own))).toMatchObject(leadsTo(host));
  expect(await plain('/', own)).toMatchObject(leadsTo(host));
  expect(await visitHttp2('/', trip(own))).toMatchObject({ status: 308 });
  // A reviewer is sent there before the marker is put on the wrong host.
  expect(await visit('/.frontage/review?site=x', trip(own))).toMatchObject(leadsTo(host, '/.frontage/review?site=x'));
  await fixture.db.query(`update site set blocked_at = now(), block_reason = 'It asks for passwords.' where id = $1`, [
    siteId,
  ]);
  await expect.poll(async () => (await visit('/', trip(own))).status).toBe(451);
  await fixture.db.query('update site set blocked_at = null, block_reason = null where id = $1', [siteId]);
  await fixture.db.query(`update domain set status = 'Moved' where id = $1`, [domainId]);
  await expect.poll(async () => (await visit('/', trip(own))).status).toBe(200);
  expect((await visit('/', trip(host))).status).toBe(200);
});

test('unattached, blocked and deleted names get a plain page, and never a site', async () => {
  const { host, domainId, siteId } = await newShop();
  await expect.poll(async () => (await visit('/', trip(host))).status).toBe(200);
  for (const change of [
    `status = 'Blocked', block_reason = 'abuse'`,
    `status = 'Deleted', block_reason = null`,
    `status = 'active', site_id = null, attached_at = null, is_primary = false`,
  ]) {
    await fixture.db.query(`update domain set ${change} where id = $1`, [domainId]);
    await expect.poll(async () => (await visit('/', trip(host))).status, { message: change }).toBe(404);
    expect((await visit('/', trip(host))).text).toContain('We can’t find this site');
    expect((await plain('/', host)).status).toBe(404);
  }
  await fixture.db.query('update domain set site_id = $2, attached_at = created_at where id = $1', [domainId, siteId]);
  await expect.poll(async () => (await visit('/', trip(host))).status).toBe(200);
});

test('a domain moved to another site serves that one', async () => {
  const [one, other] = [await newShop(), await newShop()];
  await expect.poll(async () => (await visit('/a.txt', trip(one.host))).text).toBe(one.name);
  await fixture.db.query('update domain set is_primary = false where id = $1', [other.domainId]);
  await fixture.db.query('update domain set site_id = $2 where id = $1', [one.domainId, other.siteId]);
  await expect.poll(async () => (await visit('/a.txt', trip(one.host))).text).toBe(other.name);
});

test('HSTS is sent only after a week of health', async () => {
  const { host, domainId } = await newShop();
  await expect.poll(async () => (await visit('/', trip(host))).status).toBe(200);
  expect((await visit('/', trip(host))).headers['strict-transport-security']).toBeUndefined();
  const since = (hours: number) =>
    fixture.db.query('update certificate set healthy_since = $2 where domain_id = $1', [
      domainId,
      new Date(Date.now() - hours * 3600_000),
    ]);
  await since(7 * 24 - 1);
  expect((await visit('/', trip(host))).headers['strict-transport-security']).toBeUndefined();
  await since(7 * 24 + 1);
  const told = async () => (await visit('/', trip(host))).headers['strict-transport-security'];
  await expect.poll(told).toBe('max-age=31536000');
  expect((await visitHttp2('/', trip(host))).headers['strict-transport-security']).toBe('max-age=31536000');
  expect((await visit('/.well-known/x', trip(host))).headers['strict-transport-security']).toBe('max-age=31536000');
  expect((await plain('/', host)).headers['strict-transport-security']).toBeUndefined();
  // Once it has run out, nobody is told to insist on it.
  const over = 'update certificate set not_after = $2, healthy_since = healthy_since where domain_id = $1';
  await fixture.db.query(over, [domainId, new Date(Date.now() - 1_000)]);
  await expect.poll(told).toBeUndefined();
});

test('a new certificate is served within a second, and the old one until then', async () => {
  const { host, domainId } = await newShop();
  const shown = async () => {
    const socket = await shake({ port: edge.tlsPort, servername: host, ca: issuer.root });
    const { fingerprint256 } = socket.getPeerCertificate();
    socket.destroy();
    return fingerprint256;
  };
  const before = await shown();
  expect(await shown()).toBe(before);
  const served = async () => {
    const next = await giveCertificate(fixture, issuer, { name: host, domainId });
    const began = performance.now();
    await expect.poll(shown, { interval: 20 }).toBe(next.fingerprint256);
    return performance.now() - began;
  };
  expect(await quickest(2_000, served)).toBeLessThan(2_000);
});

test('the key of a removed domain is kept nowhere', async () => {
  const { host, domainId } = await newShop();
  await expect.poll(async () => (await visit('/', trip(host))).status).toBe(200);
  await fixture.db.query(
    'update domain set removed_at = created_at, site_id = null, attached_at = null, is_primary = false where id = $1',
    [domainId],
  );
  await expect.poll(() => visit('/', trip(host)).catch(() => 'no certificate')).toBe('no certificate');
  expect(await fixture.rowOf(host)).toMatchObject({ chain: null, sealed_key: null, order_key: null });
});

test('an edge that was away when a domain was removed drops its key', async () => {
  const { host, domainId } = await newShop();
  const { promise: back, resolve: comeBack } = Promise.withResolvers<void>();
  let away = Promise.resolve();
  const through = (database: CertificatesDatabase): CertificatesDatabase => ({
    ...database,
    changedSince: (mark) => away.then(() => database.changedSince(mark)),
  });
  const other = await fixture.openTlsEdge({ ports: { http: 0, tls: 0 }, through });
  const seen = () => visit('/', { ...trip(host), port: other.tlsPort }).catch(() => 'no certificate');
  await expect.poll(seen).toMatchObject({ status: 200 });
  away = back;
  await fixture.db.query(
    'update domain set removed_at = created_at, site_id = null, attached_at = null, is_primary = false where id = $1',
    [domainId],
  );
  await clearCertificate(fixture.deps.em(), domainId);
  comeBack();
  await expect.poll(seen).toBe('no certificate');
  await other.close();
});
