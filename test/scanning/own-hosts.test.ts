/** A site's own hosts at the time of a scan, and redirects away from it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Deployment } from '#db/deployments/deployment.ts';
import { blockDomain } from '#db/domains/blocks.ts';
import { Domain } from '#db/domains/domain.ts';
import { workflowIds } from '#rules/workflow-ids.ts';
import { newId } from '#runtime/ids.ts';
import { type Caller, createSite } from '#test/api/fixture.ts';
import { createScanningFixture, type ScanningFixture } from './fixture.ts';

let fixture: ScanningFixture;
beforeAll(async () => {
  fixture = await createScanningFixture();
}, 60_000);
afterAll(() => fixture?.close());

const soon = { timeout: 15_000, interval: 50 };
/** Also waits for the end of the workflow: until then a rescan does not start at once but with the next sweep. */
const untilScanned = async (id: string) => {
  const read = async () => (await fixture.deps.em().findOneOrFail(Deployment, { id })).scannedAt;
  await expect.poll(read, soon).toBeInstanceOf(Date);
  await fixture.deps.temporal.workflow.getHandle(workflowIds.scanContent(id)).result();
};
const kindsOf = async (site: { id: string }) =>
  (await fixture.flagsOf(site)).map(({ path, kind }: { path: string; kind: string }) => `${path} ${kind}`);

/** A domain of the owner's that leads here and shows the site. */
async function attached({ accountId }: Caller, site: { id: string }): Promise<{ id: string; name: string }> {
  const em = fixture.deps.em();
  const now = fixture.clock.now();
  const later = new Date(now.getTime() + 3600_000);
  const name = `own-${newId('dom').slice(-12).toLowerCase()}.example`;
  const held = {
    isPrimary: true,
    status: 'active',
    statusSince: now,
    provedAt: now,
    attachedAt: now,
    createdAt: now,
    nextCheckAt: later,
  } as const;
  const proof = { mode: 'cname', proof: name, pair: name, registrable: name } as const;
  const domain = em.create(Domain, { id: newId('dom'), account: accountId, site: site.id, name, ...proof, ...held });
  await em.flush();
  return { id: domain.id, name };
}

const ends = {
  detached: async (owner: Caller, { id }: { id: string }) => {
    expect((await owner.call('POST', `/v1/domains/${id}/detach`)).status).toBe(200);
  },
  blocked: async (_owner: Caller, { id }: { id: string }) => {
    await blockDomain(fixture.deps.em(), fixture.clock, id, 'It is not theirs.');
  },
};

test.each(Object.keys(ends) as (keyof typeof ends)[])(
  'a password form for a site’s former domain is flagged once it is %s',
  async (end) => {
    const owner = await fixture.newCaller();
    const site = await createSite(owner);
    const domain = await attached(owner, site);
    const files = { 'index.html': `<form action="https://${domain.name}/"><input type="password"></form>` };
    const first = await fixture.publish(site.id, owner.accountId, files);
    await untilScanned(first);
    const later = await fixture.publish(site.id, owner.accountId, { ...files, 'a.html': '<p>a' });
    await untilScanned(later);
    expect(await kindsOf(site)).toEqual([]);
    await ends[end](owner, domain);
    await expect.poll(() => kindsOf(site), soon).toEqual(['index.html password_form']);
  },
);

test('only redirects from a page to a foreign host are flagged when set', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const domain = await attached(owner, site);
  const set = async (...rules: { from: string; to: string; status?: number }[]) => {
    const { status } = await owner.call('PUT', `/v1/sites/${site.id}/redirects`, { body: { rules } });
    return [status, await kindsOf(site)];
  };
  expect(await set({ from: '/*', to: `https://${domain.name}/:splat` }, { from: '/a', to: '/b' })).toEqual([200, []]);
  const away = { from: '/*', to: 'https://evil.example/:splat', status: 302 };
  expect(await set({ from: '/in', to: 'https://in.example/' }, away)).toEqual([200, ['/redirects redirect']]);
  expect(await fixture.flagsOf(site)).toMatchObject([
    { excerpt: '/* redirects to https://evil.example/:splat, and 1 more', open: true },
  ]);
});

test('a version’s redirects are flagged when published', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const files = { 'index.html': '<p>x', _redirects: '/ https://evil.example/ 302' };
  await untilScanned(await fixture.publish(site.id, owner.accountId, files));
  expect(await kindsOf(site)).toEqual(['_redirects redirect']);
});
