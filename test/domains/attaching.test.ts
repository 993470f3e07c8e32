/**
 * The site that a domain serves, and what stops it.
 * @module-tag powerdns
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { originsOf } from '#api/visitors/origins.ts';
import { blockDomain, unblockDomain } from '#db/domains/blocks.ts';
import { Domain, DomainTombstone } from '#db/domains/domain.ts';
import { siteServedOn } from '#db/domains/hostnames.ts';
import { Site } from '#db/sites/site.ts';
import { blockSite, unblockSite } from '#db/sites/transitions.ts';
import { type Answer, createSite } from '#test/api/fixture.ts';
import { loseNextAnswer } from '#test/requests/lost-answer.ts';
import { codeOf, createDomainFixture, type DomainFixture } from './fixture.ts';

let fixture: DomainFixture;
beforeAll(async () => {
  fixture = await createDomainFixture();
}, 60_000);
afterAll(() => fixture?.close());

describe('primary domains', () => {
  test('the first domain is primary, another can become so, and detaching passes it on', async () => {
    const owner = await fixture.newCaller();
    const site = await createSite(owner);
    const [one, two] = [await fixture.active(owner), await fixture.active(owner)];
    const attach = (id: string, more = {}) =>
      owner.call('POST', `/v1/domains/${id}/attach`, { body: { site_id: site.id, ...more } });
    expect((await attach(one.id)).body).toMatchObject({ site_id: site.id, primary: true });
    expect((await attach(two.id)).body).toMatchObject({ site_id: site.id, primary: false });
    expect((await attach(two.id, { primary: true })).body.primary).toBe(true);
    expect((await fixture.read(owner, one)).primary).toBe(false);
    // The site's own address stays what it is, and leads there by itself.
    expect((await owner.call('GET', `/v1/sites/${site.id}`)).body.address).toBe(site.address);
    const row = await fixture.deps.em().findOneOrFail(Site, { id: site.id });
    expect(await originsOf(fixture.deps.em(), fixture.deps, row)).toEqual(
      new Set([
        new URL(site.address).origin,
        ...[one, two].flatMap(({ domain }) => [`https://${domain}`, `http://${domain}`]),
      ]),
    );
    // What has a certificate is served over TLS alone.
    await fixture.certify(two);
    expect(await originsOf(fixture.deps.em(), fixture.deps, row)).toEqual(
      new Set([new URL(site.address).origin, `https://${one.domain}`, `http://${one.domain}`, `https://${two.domain}`]),
    );
    expect((await siteServedOn(fixture.deps.em(), fixture.config, `https://${two.domain.toUpperCase()}/`))?.id).toBe(
      site.id,
    );
    const detached = await owner.call('POST', `/v1/domains/${two.id}/detach`);
    expect(detached.body).toMatchObject({ site_id: null, primary: false, status: 'active' });
    expect((await fixture.read(owner, one)).primary).toBe(true);
    expect((await owner.call('POST', `/v1/domains/${two.id}/detach`)).status).toBe(200);
    expect((await owner.call('DELETE', `/v1/domains/${one.id}`)).body.site_id).toBe(null);
    expect((await originsOf(fixture.deps.em(), fixture.deps, row)).size).toBe(1);
  });

  test('an unproved, foreign or attached domain cannot be attached', async () => {
    const [owner, other] = [await fixture.newCaller(), await fixture.newCaller()];
    const [site, second, foreign] = [await createSite(owner), await createSite(owner), await createSite(other)];
    const pending = await fixture.bring(owner, 'cname');
    const attach = (id: string, site_id: string, by = owner) =>
      by.call('POST', `/v1/domains/${id}/attach`, { body: { site_id } });
    expect(codeOf(await attach(pending.id, site.id))).toEqual([409, 'domain_not_active']);
    const domain = await fixture.active(owner);
    expect(codeOf(await attach(domain.id, foreign.id))).toEqual([404, 'not_found']);
    expect(codeOf(await attach(domain.id, foreign.id, other))).toEqual([404, 'not_found']);
    const guest = await fixture.newCollaborator(other, foreign.id);
    const theirs = await fixture.active(guest);
    expect(codeOf(await attach(theirs.id, foreign.id, guest))).toEqual([403, 'domain_not_the_owners']);
    expect((await attach(domain.id, site.id)).status).toBe(200);
    expect(codeOf(await attach(domain.id, second.id))).toEqual([409, 'attach_blocked']);
    await owner.call('POST', `/v1/sites/${second.id}/archive`);
    await owner.call('POST', `/v1/domains/${domain.id}/detach`);
    expect(codeOf(await attach(domain.id, second.id))).toEqual([409, 'site_archived']);
  });

  test('concurrent changes of the primary domain both finish, and one wins', async () => {
    const owner = await fixture.newCaller();
    const site = await createSite(owner);
    const domains = await Promise.all([0, 1, 2, 3].map(() => fixture.active(owner)));
    for (let round = 0; round < 5; round++) {
      const body = { site_id: site.id, primary: true };
      const answers = await Promise.all(
        domains.map(({ id }) => owner.call('POST', `/v1/domains/${id}/attach`, { body })),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      const rows = await fixture.deps.em().find(Domain, { site: site.id });
      expect(rows.filter(({ isPrimary }) => isPrimary).length).toBe(1);
    }
  });
});

test('a takeover and a change of primary domain never deadlock', async () => {
  const [loser, winner] = [await fixture.newCaller(), await fixture.newCaller()];
  const site = await createSite(loser);
  const lost = await fixture.active(loser);
  await loser.call('POST', `/v1/domains/${lost.id}/attach`, { body: { site_id: site.id } });
  const now = fixture.clock.now();
  const alsoLost = await fixture.active(loser);
  const both = { id: { $in: [lost.id, alsoLost.id] } };
  await fixture.deps.em().nativeUpdate(Domain, both, { status: 'Deleted', statusSince: now });
  const brought = await fixture.bring(winner, 'cname', lost.domain);
  fixture.setUp(brought);
  // As `attach` begins: the site, then its domain that is primary no more.
  const em = fixture.deps.em();
  let taken: Promise<Answer> | undefined;
  await em.transactional(async (tx) => {
    await tx.execute('select 1 from site where id = ? for no key update', [site.id]);
    taken = fixture.check(winner, brought);
    await expect
      .poll(
        async () =>
          await fixture.deps.em().execute(`select 1 from pg_stat_activity where wait_event_type = 'Lock'
        and datname = current_database() and query like '%site%'`),
        { timeout: 10_000 },
      )
      .not.toEqual([]);
    await tx.execute('update domain set is_primary = false where id = ?', [lost.id]);
  });
  expect((await taken)?.body.status).toBe('active');
  expect((await fixture.deps.em().findOneOrFail(Domain, { id: lost.id })).removedAt).not.toBe(null);
  expect((await fixture.deps.em().findOneOrFail(Domain, { id: alsoLost.id })).removedAt).toBe(null);
  // What is proved anew has nothing left of who lost it.
  expect(await fixture.deps.em().findOne(DomainTombstone, { name: lost.domain })).toBe(null);
});

test('a blocked domain serves no site, and returns when it is unblocked', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const domain = await fixture.active(owner);
  await owner.call('POST', `/v1/domains/${domain.id}/attach`, { body: { site_id: site.id } });
  await blockDomain(fixture.deps.em(), fixture.clock, domain.id, 'It was reported for phishing.');
  const shown = await fixture.read(owner, domain);
  expect(shown).toMatchObject({ status: 'Blocked', next_check_at: null, waiting_on: 'operator' });
  expect(shown.next_action).toContain('phishing');
  const body = { site_id: site.id };
  expect(codeOf(await owner.call('POST', `/v1/domains/${domain.id}/attach`, { body }))).toEqual([
    409,
    'attach_blocked',
  ]);
  expect((await fixture.check(owner, domain)).body.status).toBe('Blocked');
  const row = await fixture.deps.em().findOneOrFail(Site, { id: site.id });
  expect((await originsOf(fixture.deps.em(), fixture.deps, row)).size).toBe(1);
  await unblockDomain(fixture.deps.em(), fixture.clock, domain.id);
  await expect.poll(async () => (await fixture.read(owner, domain)).status, { timeout: 10_000 }).toBe('active');
});

test('a blocked site keeps its name and domains until it is unblocked', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const domain = await fixture.active(owner);
  await owner.call('POST', `/v1/domains/${domain.id}/attach`, { body: { site_id: site.id } });
  await blockSite(fixture.deps.em(), fixture.clock, site.id, 'It was reported for phishing.');
  const leaving = [
    ['POST', `/v1/domains/${domain.id}/detach`, undefined],
    ['DELETE', `/v1/domains/${domain.id}`, undefined],
    ['PATCH', `/v1/sites/${site.id}`, { body: { name: `${site.name}-again` } }],
  ] as const;
  for (const [method, path, input] of leaving)
    expect(codeOf(await owner.call(method, path, input)), path).toEqual([409, 'site_archived']);
  expect(await fixture.read(owner, domain)).toMatchObject({ site_id: site.id, primary: true });
  expect(await siteServedOn(fixture.deps.em(), fixture.config, `https://${domain.domain}/`)).toMatchObject({
    id: site.id,
    name: site.name,
    blockedAt: expect.any(Date),
  });
  // What does not move it is the owner's as before.
  const titled = await owner.call('PATCH', `/v1/sites/${site.id}`, { body: { name: site.name, title: 'Mended' } });
  expect(titled.body).toMatchObject({ name: site.name, title: 'Mended', blocked: { reason: expect.any(String) } });
  await unblockSite(fixture.deps.em(), fixture.deps.clock, site.id);
  for (const [method, path, input] of leaving) expect((await owner.call(method, path, input)).status, path).toBe(200);
});

test('unblocking a domain that is not blocked changes nothing', async () => {
  const owner = await fixture.newCaller();
  const domain = await fixture.active(owner);
  await unblockDomain(fixture.deps.em(), fixture.clock, domain.id);
  expect((await fixture.deps.em().findOneOrFail(Domain, { id: domain.id })).status).toBe('active');
});

test('detaching a primary domain passes it on within its own site', async () => {
  const owner = await fixture.newCaller();
  const [earlier, site] = [await createSite(owner), await createSite(owner)];
  const [other, leaving, next] = [
    await fixture.active(owner),
    await fixture.active(owner),
    await fixture.active(owner),
  ];
  const attach = (id: string, to: { id: string }) =>
    owner.call('POST', `/v1/domains/${id}/attach`, { body: { site_id: to.id } });
  for (const [domain, to] of [
    [other, earlier],
    [leaving, site],
    [next, site],
  ] as const)
    await attach(domain.id, to);
  await owner.call('POST', `/v1/domains/${leaving.id}/detach`);
  expect((await fixture.read(owner, next)).primary).toBe(true);
});

test('an attachment or detachment whose answer was lost undoes no later one', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const domain = await fixture.active(owner);
  const call = (act: 'attach' | 'detach', headers = {}) =>
    owner.call('POST', `/v1/domains/${domain.id}/${act}`, {
      headers,
      ...(act === 'attach' ? { body: { site_id: site.id } } : {}),
    });
  for (const [act, later, siteId] of [
    ['attach', 'detach', null],
    ['detach', 'attach', site.id],
  ] as const) {
    if (act === 'detach') expect((await call('attach')).status).toBe(200);
    const repeated = () => call(act, { 'idempotency-key': act });
    const restore = loseNextAnswer(fixture, 'transactional');
    expect((await repeated()).status).toBe(500);
    restore();
    expect((await fixture.read(owner, domain)).site_id).toBe(siteId ? null : site.id);
    expect((await call(later)).body.site_id).toBe(siteId);
    for (let times = 0; times < 2; times++) {
      const { status, body } = await repeated();
      expect([act, status, body.site_id]).toEqual([act, 200, siteId]);
    }
    expect((await fixture.read(owner, domain)).site_id).toBe(siteId);
  }
  expect(fixture.takeUnexpected()).toHaveLength(2);
});
