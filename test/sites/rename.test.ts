/** Renames: the former name is kept, its host redirects, and the next publish names the new address. */
import { afterAll, expect, test } from 'vitest';
import { actorOf } from '#api/access.ts';
import { createSite as createRows } from '#api/sites/rules.ts';
import { originsOf } from '#api/visitors/origins.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import { sweepFormerNames } from '#db/sites/former-names.ts';
import { Site } from '#db/sites/site.ts';
import { newId } from '#runtime/ids.ts';
import { type Caller, createFixture, createSite, errorOf, freeName } from '#test/api/fixture.ts';

const fixture = await createFixture({ FRONTAGE_RATE_SCALE: '1' });
afterAll(() => fixture.close());
const owner = await fixture.newCaller();
const stranger = await fixture.newCaller();
const day = 86_400_000;

const rename = ({ call }: Caller, id: string, name: string) => call('PATCH', `/v1/sites/${id}`, { body: { name } });
const take = ({ call }: Caller, name: string) =>
  call('POST', '/v1/sites', { body: { name, title: 'A', template: null } });
const read = async (id: string) => (await owner.call('GET', `/v1/sites/${id}`)).body;
const hostOf = (name: string) => `${name}.${fixture.config.baseDomain}`;
const newSite = (): Promise<{ id: string; name: string; address: string }> => createSite(owner, { template: null });
const formerOf = async (id: string) =>
  (await read(id)).former_hostnames.map(({ hostname }: { hostname: string }) => hostname.split('.')[0]);

/** Makes the site live on its present address, as a publish does. */
async function goLive(id: string): Promise<void> {
  const em = fixture.deps.em();
  const site = await em.findOneOrFail(Site, { id });
  await em.nativeUpdate(Deployment, { site: id, status: 'live' }, { status: 'retired' });
  site.lastTicket += 1;
  site.lastNumber += 1;
  const deployment = em.create(Deployment, {
    id: newId('dep'),
    site,
    number: site.lastNumber,
    kind: 'site',
    status: 'live',
    ticket: site.lastTicket,
    siteUrl: (await read(id)).address,
    manifestSha256: '0'.repeat(64),
    createdBy: site.account,
    createdAt: fixture.clock.now(),
  });
  await em.flush();
  site.liveDeploymentId = deployment.id;
  await em.flush();
}

test('a rename keeps the old name for 90 days, and says so', async () => {
  const { id, name } = await newSite();
  const next = freeName();
  const { status, body } = await rename(owner, id, next);
  expect([status, body]).toMatchObject([200, { name: next, address: expect.stringContaining(hostOf(next)) }]);
  const [former] = body.former_hostnames;
  expect(former.hostname).toBe(hostOf(name));
  const days = (Date.parse(former.redirects_until) - fixture.clock.now().getTime()) / day;
  expect([days > 89.9, days <= 90]).toEqual([true, true]);
  expect((await read(id)).former_hostnames).toEqual(body.former_hostnames);
  expect(errorOf(await take(stranger, name)).code).toBe('invalid_name');
  expect(errorOf(await rename(owner, (await newSite()).id, name)).code).toBe('invalid_name');

  fixture.skip(90 * day - 60_000);
  expect(errorOf(await take(stranger, name)).code).toBe('invalid_name');
  fixture.skip(61_000);
  expect((await read(id)).former_hostnames).toEqual([]);
  expect((await take(stranger, name)).status).toBe(200);
  await sweepFormerNames(fixture.deps.em(), fixture.clock.now());
  expect((await fixture.deps.em().execute('select 1 from former_name where site_id = ?', [id])).length).toBe(0);
});

test('a renamed site has unpublished changes until the next publish', async () => {
  const { id } = await newSite();
  expect(await read(id)).toMatchObject({ has_unpublished_changes: false, unpublished_changes: { address: false } });
  await rename(owner, id, freeName());
  // Nothing was published, so no page names the old address.
  expect(await read(id)).toMatchObject({ has_unpublished_changes: false });
  await goLive(id);
  expect(await read(id)).not.toHaveProperty('next_action');
  const { body } = await rename(owner, id, freeName());
  expect(body).toMatchObject({
    has_unpublished_changes: true,
    unpublished_changes: { source: false, content: false, address: true },
    next_action: expect.stringContaining(`POST /v1/sites/${id}/publish`),
  });
  await goLive(id);
  expect(await read(id)).toMatchObject({ has_unpublished_changes: false, unpublished_changes: { address: false } });
});

test('a site takes a former name back, and nobody else does', async () => {
  const { id, name } = await newSite();
  const other = freeName();
  await rename(owner, id, other);
  expect((await rename(owner, id, name)).body).toMatchObject({ name });
  expect(await formerOf(id)).toEqual([other]);
  expect((await rename(owner, id, name)).status).toBe(200);
  expect(await formerOf(id)).toEqual([other]);
});

test('a site keeps three former names, and none is freed for a fourth', async () => {
  const { id, name } = await newSite();
  const names = [name];
  for (let n = 0; n < 3; n += 1) {
    const next = freeName();
    expect((await rename(owner, id, next)).status).toBe(200);
    names.push(next);
  }
  const refused = await rename(owner, id, freeName());
  expect([refused.status, errorOf(refused).code]).toEqual([429, 'rate_limited']);
  const seconds = Number(refused.headers.get('retry-after'));
  expect([seconds > 89.9 * 86_400, seconds <= 90 * 86_400]).toEqual([true, true]);
  expect(await formerOf(id)).toEqual(names.slice(0, 3));
  // Back to one of them: the number stays the same.
  expect((await rename(owner, id, names[1] as string)).status).toBe(200);
  expect(await formerOf(id)).toEqual([names[0], names[2], names[3]]);
  fixture.skip(90 * day);
  expect((await rename(owner, id, freeName())).status).toBe(200);
});

test('a site is renamed five times a day', async () => {
  const { id, name } = await newSite();
  const other = freeName();
  for (const next of [other, name, other, name, other]) expect((await rename(owner, id, next)).status).toBe(200);
  const refused = await rename(owner, id, name);
  expect([refused.status, errorOf(refused).code]).toEqual([429, 'rate_limited']);
  const seconds = Number(refused.headers.get('retry-after'));
  expect([seconds > 86_000, seconds <= 86_400]).toEqual([true, true]);
  await sweepFormerNames(fixture.deps.em(), fixture.clock.now());
  expect((await rename(owner, id, name)).status).toBe(429);
  // A title is no name.
  expect((await owner.call('PATCH', `/v1/sites/${id}`, { body: { title: 'New' } })).status).toBe(200);
  fixture.skip(day);
  expect((await rename(owner, id, name)).status).toBe(200);
});

test('of a rename and a creation with one name at once one succeeds', async () => {
  for (let round = 0; round < 6; round += 1) {
    const { id, name } = await newSite();
    const wanted = freeName();
    const answers = await Promise.all([rename(owner, id, wanted), take(stranger, wanted), take(stranger, name)]);
    const [renamed, created, stolen] = answers.map(({ status }) => status);
    expect([renamed, created].toSorted()).toEqual([200, 400]);
    expect(stolen).toBe(400);
    const owned = await fixture.deps.em().find(Site, { name: wanted });
    expect(owned.map((site) => site.id)).toEqual([renamed === 200 ? id : answers[1]?.body.id]);
  }
});

test('a creation that began before a rename cannot take its former name', async () => {
  const { id, name } = await newSite();
  const middle = freeName();
  // The name is free when the creation begins, and a former one when it is written.
  const { repositories } = fixture.deps;
  const deps = {
    ...fixture.deps,
    repositories: repositories && {
      ...repositories,
      create: async (...given: Parameters<typeof repositories.create>) => {
        await repositories.create(...given);
        await rename(owner, id, middle);
        await rename(owner, id, name);
      },
    },
  };
  const actor = actorOf(stranger.accountId, '');
  const input = { id: newId('site'), name: middle, title: 'A', template: null };
  await expect(createRows(fixture.deps.em(), deps, actor, input)).rejects.toMatchObject({ code: 'invalid_name' });
});

test('pages that were opened on a former host may still send forms', async () => {
  const { id, name, address } = await newSite();
  await rename(owner, id, freeName());
  const em = fixture.deps.em();
  const origins = await originsOf(em, fixture.deps, await em.findOneOrFail(Site, { id }));
  expect(origins).toContain(new URL(address).origin);
  expect(new URL(address).hostname).toBe(hostOf(name));
});

test('redirect rules cannot form a loop over a former host', async () => {
  const { id, address } = await newSite();
  await rename(owner, id, freeName());
  const body = { rules: [{ from: '/a', to: `${address}/a`, status: 301 }] };
  expect(errorOf(await owner.call('PUT', `/v1/sites/${id}/redirects`, { body })).code).toBe('invalid_redirects');
});
