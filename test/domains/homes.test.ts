/**
 * A site's canonical address, for visitors and search engines.
 * @module-tag powerdns
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Certificate } from '#db/certificates/certificate.ts';
import { acquireLease, ensureCertificate, updateLeased } from '#db/certificates/transitions.ts';
import { recordBuilderPresence } from '#db/deployments/builder-capacity.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import { Domain } from '#db/domains/domain.ts';
import { lockDomainWithSite, removeDomain } from '#db/domains/transitions.ts';
import { Site } from '#db/sites/site.ts';
import { builder, type Caller, createSite } from '#test/api/fixture.ts';
import { untilBlocked } from '#test/stack/until.ts';
import { createDomainFixture, type DomainFixture, freeDomain, type Shown } from './fixture.ts';

let fixture: DomainFixture;
beforeAll(async () => {
  const acme = { FRONTAGE_ACME_URL: 'https://127.0.0.1:9/directory', FRONTAGE_ACME_TERMS: 'agreed' };
  fixture = await createDomainFixture(acme, { worker: false });
  await recordBuilderPresence(fixture.deps.em(), fixture.clock, builder);
}, 60_000);
afterAll(() => fixture?.close());

/** No worker is there, so nothing is to be waited for. */
const atOnce = { prefer: 'wait=0' };

async function active(owner: Caller): Promise<Shown> {
  const body = { domain: freeDomain(), mode: 'cname' };
  const brought: Shown = (await owner.call('POST', '/v1/domains', { body, headers: atOnce })).body;
  fixture.setUp(brought);
  expect((await fixture.check(owner, brought)).body.status).toBe('active');
  return brought;
}

const attach = (owner: Caller, { id }: { id: string }, site: { id: string }, more = {}) =>
  owner.call('POST', `/v1/domains/${id}/attach`, { body: { site_id: site.id, ...more } });

/** As the authority would have given one. */
async function certify({ id, domain }: { id: string; domain: string }): Promise<void> {
  const em = fixture.deps.em();
  const now = fixture.clock.now();
  const notAfter = new Date(now.getTime() + 90 * 24 * 3600_000);
  const served = { chain: 'a chain', sealedKey: Buffer.from('a key'), notBefore: now, notAfter, renewAt: notAfter };
  em.create(Certificate, { id: `cert_${id}`, domainId: id, name: domain, status: 'active', createdAt: now, ...served });
  await em.flush();
}

const ways = {
  publish: (site: { id: string }) => [`/v1/sites/${site.id}/publish`, {}] as const,
  upload: (site: { id: string }) => [`/v1/sites/${site.id}/deployments`, {}] as const,
  preview: (site: { id: string }) => [`/v1/sites/${site.id}/previews/1`, {}] as const,
};

const newest = ({ id }: { id: string }) =>
  fixture.deps.em().findOneOrFail(Deployment, { site: id }, { orderBy: { number: 'desc' } });

/** The address that a version names which is begun now. */
async function named(owner: Caller, site: { id: string }, way: keyof typeof ways): Promise<string> {
  const [path, body] = ways[way](site);
  expect((await owner.call('POST', path, { body, headers: atOnce })).status).toBe(200);
  return (await newest(site)).siteUrl;
}

test.for(['publish', 'upload', 'preview'] as const)(
  'a version by %s names a certified primary domain, otherwise the platform’s address',
  async (way) => {
    const owner = await fixture.newCaller();
    const site = await createSite(owner);
    const own = site.address;
    const [one, two] = [await active(owner), await active(owner)];
    for (const domain of [one, two]) await attach(owner, domain, site);
    expect(await named(owner, site, way)).toBe(own);
    await certify(one);
    expect(await named(owner, site, way)).toBe(`https://${one.domain}`);
    await certify(two);
    await attach(owner, two, site, { primary: true });
    expect(await named(owner, site, way)).toBe(`https://${two.domain}`);
    await fixture.deps.em().nativeUpdate(Domain, { id: two.id }, { status: 'Moved' });
    expect(await named(owner, site, way)).toBe(`https://${two.domain}`);
    await fixture.deps.em().nativeUpdate(Domain, { id: two.id }, { status: 'Deleted' });
    expect(await named(owner, site, way)).toBe(own);
    for (const { id } of [one, two]) await owner.call('DELETE', `/v1/domains/${id}`, { headers: atOnce });
    expect(await named(owner, site, way)).toBe(own);
  },
);

test('a primary domain warns about pages built for another address until they are republished', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const next = async (id: string) => (await fixture.read(owner, { id })).next_action;
  const [one, two] = [await active(owner), await active(owner)];
  for (const domain of [one, two]) await certify(domain);
  const live = async () => {
    const em = fixture.deps.em();
    await owner.call('POST', `/v1/sites/${site.id}/publish`, { body: {}, headers: atOnce });
    await em.nativeUpdate(Site, { id: site.id }, { liveDeploymentId: (await newest(site)).id });
  };
  await live();
  for (const domain of [one, two]) await attach(owner, domain, site);
  expect(await next(one.id)).toBe(
    `The live pages still contain the address ${site.address}. Publish the site again with POST /v1/sites/${site.id}/publish.`,
  );
  expect(await next(two.id)).toBeUndefined();
  await live();
  expect(await next(one.id)).toBeUndefined();
});

test('redirects that loop over either address are refused', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const domain = await active(owner);
  await certify(domain);
  await attach(owner, domain, site);
  for (const address of [site.address, `https://${domain.domain}`, 'https://elsewhere.example']) {
    const body = { rules: [{ from: '/a', to: `${address}/a`, status: 301 }] };
    const { status } = await owner.call('PUT', `/v1/sites/${site.id}/redirects`, { body });
    expect([address, status]).toEqual([address, address.includes('elsewhere') ? 200 : 400]);
  }
});

test('the order of a certificate and the removal of its domain do not deadlock', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const domain = await active(owner);
  await attach(owner, domain, site);
  const em = fixture.deps.em();
  const now = fixture.clock.now();
  const { id } = await ensureCertificate(em, now, { domainId: domain.id, name: domain.domain });
  const lease = await acquireLease(em, now, id);
  if (!lease) throw new Error('no other process has the lease');
  const { ordering } = await em.transactional(async (tx) => {
    const locked = await lockDomainWithSite(tx, domain.id);
    const ordering = updateLeased(fixture.deps.em(), now, lease, { status: 'validating' });
    await untilBlocked(fixture.deps);
    await removeDomain(tx, fixture.clock, locked);
    return { ordering };
  });
  await ordering;
  expect((await fixture.deps.em().findOneOrFail(Domain, { id: domain.id })).removedAt).not.toBe(null);
});

test('a domain that is attached meanwhile is locked with its new site', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const domain = await active(owner);
  const em = () => fixture.deps.em();
  const { locking } = await em().transactional(async (tx) => {
    const attached = await lockDomainWithSite(tx, domain.id, site.id);
    const locking = em().transactional(async (later) => {
      const locked = await lockDomainWithSite(later, domain.id);
      const free = await em().execute('select 1 from site where id = ? for update skip locked', [site.id]);
      return { site: locked.site?.id, free };
    });
    await untilBlocked(fixture.deps);
    Object.assign(attached, { site: tx.getReference(Site, site.id), attachedAt: fixture.clock.now() });
    return { locking };
  });
  expect(await locking).toEqual({ site: site.id, free: [] });
});
