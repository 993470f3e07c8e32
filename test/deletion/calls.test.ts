/** Deleting a site: who may, what is asked first, what holds for the 30 days, and the way back. */
import { afterAll, expect, test, vi } from 'vitest';
import { blockSite } from '#db/sites/transitions.ts';
import { dayMs } from '#rules/time.ts';
import { type Caller, createSite, errorOf, limitsIn } from '#test/api/fixture.ts';
import { createPeopleFixture } from '#test/people/fixture.ts';
import { untilBlocked } from '#test/stack/until.ts';

vi.setConfig({ testTimeout: 60_000 });

const fixture = await createPeopleFixture({ FRONTAGE_RATE_SCALE: '1' });
afterAll(() => fixture.close());

const path = (site: { id: string }, rest = '') => `/v1/sites/${site.id}${rest}`;

async function archived(owner: Caller) {
  const site = await createSite(owner);
  expect((await owner.call('POST', path(site, '/archive'))).status).toBe(200);
  return site;
}

async function deleting(owner: Caller) {
  const site = await archived(owner);
  const { status, body } = await owner.call('DELETE', path(site, '?confirm=true'));
  expect([status, body.status]).toEqual([200, 'deleting']);
  return body;
}

const listed = async (owner: Caller, query = ''): Promise<string[]> =>
  (await owner.call('GET', `/v1/sites${query}`)).body.items.map(({ id }: { id: string }) => id);

test('only an archived site can be deleted, by its owner, with a confirmation', async () => {
  const [owner, stranger] = [await fixture.newCaller(), await fixture.newCaller()];
  const site = await createSite(owner);
  const online = errorOf(await owner.call('DELETE', path(site, '?confirm=true')));
  expect(online.code).toBe('site_not_archived');
  expect(online.next_action).toBe(`Call POST /v1/sites/${site.id}/archive first.`);
  expect(errorOf(await stranger.call('DELETE', path(site, '?confirm=true'))).code).toBe('not_found');
  await owner.call('POST', path(site, '/archive'));
  const asked = errorOf(await owner.call('DELETE', path(site)));
  expect(asked.code).toBe('confirm_required');
  expect(asked.next_action).toContain(`DELETE /v1/sites/${site.id}?confirm=true`);
  expect(asked.next_action).toContain(`/v1/sites/${site.id}/export`);
  const { body } = await owner.call('DELETE', path(site, '?confirm=true'));
  expect(new Date(body.delete_at).getTime() - fixture.clock.now().getTime()).toBeGreaterThan(29.9 * dayMs);
  expect((await owner.call('DELETE', path(site))).body.delete_at).toBe(body.delete_at);
  expect((await owner.call('POST', path(site, '/restore-site'))).body.status).toBe('archived');
  const { body: history } = await owner.call('GET', path(site, '/history'));
  expect([history.items[0].action, history.items[1].action]).toEqual(['site.restored', 'site.deleted']);
});

test('repeated deletions of a site mail its owner five times an hour', async () => {
  const owner = await fixture.newSignedIn();
  const site = await archived(owner);
  const remove = () => owner.call('DELETE', path(site, '?confirm=true'));
  for (let round = 0; round < 5; round++)
    expect([(await remove()).status, (await owner.call('POST', path(site, '/restore-site'))).status]).toEqual([
      200, 200,
    ]);
  expect(errorOf(await remove()).code).toBe('rate_limited');
  expect((await fixture.lettersTo(owner.email)).filter(({ kind }) => kind === 'site-deletion')).toHaveLength(5);
  fixture.skip(3_600_000);
  expect((await remove()).status).toBe(200);
});

test('a blocked site is not deleted', async () => {
  const owner = await fixture.newCaller();
  const site = await archived(owner);
  await blockSite(fixture.deps.em(), fixture.clock, site.id, 'Phishing');
  expect(errorOf(await owner.call('DELETE', path(site, '?confirm=true'))).code).toBe('site_archived');
});

test('only the owner reads a site under deletion, and lists it on demand', async () => {
  const [owner, member] = [await fixture.newCaller(), await fixture.newCaller()];
  const site = await archived(owner);
  await fixture.deps
    .em()
    .execute('insert into collaborator (site_id, account_id, since) values (?, ?, ?)', [
      site.id,
      member.accountId,
      fixture.clock.now(),
    ]);
  expect((await member.call('GET', path(site))).status).toBe(200);
  expect((await member.call('DELETE', path(site, '?confirm=true'))).body.error.code).toBe('owner_only');
  await owner.call('DELETE', path(site, '?confirm=true'));
  expect((await owner.call('GET', path(site))).body).toMatchObject({ status: 'deleting', role: 'owner' });
  expect(errorOf(await member.call('GET', path(site))).code).toBe('not_found');
  const { items, next_action } = (await owner.call('GET', '/v1/sites')).body;
  expect([items, next_action]).toEqual([[], expect.stringContaining('GET /v1/sites?status=deleting')]);
  expect(await listed(owner, '?status=archived')).not.toContain(site.id);
  expect(await listed(owner, '?status=deleting')).toEqual([site.id]);
  expect(await listed(member, '?status=deleting')).toEqual([]);
  const kept = await createSite(owner);
  expect(await listed(owner, '?status=active')).toEqual([kept.id]);
  expect((await owner.call('GET', '/v1/sites')).body).not.toHaveProperty('next_action');
  expect(errorOf(await owner.call('GET', '/v1/sites?status=gone')).code).toBe('invalid_status');
  for (const [method, rest, body] of [
    ['PATCH', '', { title: 'New' }],
    ['POST', '/unarchive', undefined],
    ['POST', '/publish', { scope: 'site' }],
    ['POST', '/uploads', {}],
  ] as const) {
    const answer = errorOf(await owner.call(method, path(site, rest), { body }));
    expect([answer.code, answer.next_action]).toEqual([
      'site_archived',
      `Call POST /v1/sites/${site.id}/restore-site first.`,
    ]);
  }
});

test('only the owner fetches the source of a site under deletion, until its purge', async () => {
  const [owner, friend] = [await fixture.newCaller(), await fixture.newCaller()];
  const site = await createSite(owner);
  const joined = 'insert into collaborator (site_id, account_id, since) values (?, ?, ?)';
  await fixture.deps.em().execute(joined, [site.id, friend.accountId, fixture.clock.now()]);
  const passwords = await Promise.all(
    [owner, friend].map(async ({ call }) => {
      const { body } = await call('POST', path(site, '/git-credentials'), {
        body: { repository: 'source', access: 'read', expires_in_seconds: 80 * 86_400 },
      });
      return `Basic ${Buffer.from(`${body.username}:${body.password}`).toString('base64')}`;
    }),
  );
  const fetched = () =>
    Promise.all(
      passwords.map(async (authorization) => {
        const url = `${fixture.url}/git/${site.id}.git/info/refs?service=git-upload-pack`;
        return (await fetch(url, { headers: { authorization } })).status;
      }),
    );
  expect(await fetched()).toEqual([200, 200]);
  await owner.call('POST', path(site, '/archive'));
  await owner.call('DELETE', path(site, '?confirm=true'));
  expect(await fetched()).toEqual([200, 401]);
  await owner.call('POST', path(site, '/restore-site'));
  expect(await fetched()).toEqual([200, 200]);
  await owner.call('DELETE', path(site, '?confirm=true'));
  await fixture.deps.em().execute('update site set purged_at = now() where id = ?', [site.id]);
  expect(await fetched()).toEqual([401, 401]);
});

test('a restore that waits while the purge begins brings nothing back', async () => {
  const owner = await fixture.newCaller();
  const site = await deleting(owner);
  const em = fixture.deps.em();
  const { answer } = await em.transactional(async (tx) => {
    await tx.execute('update site set purged_at = now() where id = ?', [site.id]);
    const answer = owner.call('POST', path(site, '/restore-site'));
    await untilBlocked(fixture.deps);
    return { answer };
  });
  expect(errorOf(await answer).code).toBe('not_found');
  const [row] = await em.execute<[{ kept: boolean }]>('select delete_at is not null as kept from site where id = ?', [
    site.id,
  ]);
  expect(row.kept).toBe(true);
});

test('a site under deletion counts as a site, and keeps its name', async () => {
  const owner = await fixture.newCaller();
  const { sites: limit } = limitsIn(fixture.config);
  const site = await deleting(owner);
  const used = async () => (await owner.call('GET', '/v1/account')).body.limits.sites.used;
  expect(await used()).toBe(1);
  for (let count = 1; count < limit; count++) await createSite(owner);
  const body = { name: 'one-too-many', title: 'T' };
  expect(errorOf(await owner.call('POST', '/v1/sites', { body })).code).toBe('plan_limit');
  const other = await fixture.newCaller();
  const named = await other.call('POST', '/v1/sites', { body: { name: site.name, title: 'T' } });
  expect(errorOf(named).code).toBe('invalid_name');
  expect((await owner.call('POST', path(site, '/restore-site'))).body).toMatchObject({
    status: 'archived',
    delete_at: null,
  });
  expect(await used()).toBe(limit - 1);
});

test('the mailed link opens a page that restores the site with one press', async () => {
  const owner = await fixture.newSignedIn();
  const other = await fixture.newSignedIn();
  const site = await deleting(owner);
  const link = await fixture.linkTo(owner.email, 'site-deletion');
  expect((await fixture.browser().open(link)).url).toContain('/signin');
  expect((await other.browser.open(link)).status).toBe(404);
  const account = await owner.browser.open('/account');
  expect(account.text).toContain(link);
  const page = await owner.browser.open(link);
  expect(page.text).toContain(`Keep ${site.name}.`);
  // Opening the page restores nothing.
  expect((await owner.call('GET', path(site))).body.status).toBe('deleting');
  await owner.browser.press(page, 'Restore');
  expect((await owner.call('GET', path(site))).body).toMatchObject({ status: 'archived', delete_at: null });
  expect((await owner.browser.open(link)).text).toContain('not being deleted');
  expect((await owner.call('POST', path(site, '/restore-site'))).status).toBe(200);
  expect((await owner.call('POST', path(site, '/unarchive'))).body.status).toBe('active');
});
