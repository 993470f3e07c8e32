/** Git passwords on the owner's page. */
import { afterAll, expect, test } from 'vitest';
import { Collaborator } from '#db/collaborators/collaborator.ts';
import { createSite } from '#test/api/fixture.ts';
import { formsOf } from './browser.ts';
import { createPeopleFixture } from './fixture.ts';

const fixture = await createPeopleFixture();
afterAll(() => fixture.close());

type Person = Awaited<ReturnType<typeof fixture.newSignedIn>>;

const make = async ({ call }: Person, siteId: string, access: 'read' | 'write') =>
  (await call('POST', `/v1/sites/${siteId}/git-credentials`, { body: { repository: 'source', access } })).body;
const listed = async ({ call }: Person, siteId: string) =>
  (await call('GET', `/v1/sites/${siteId}/git-credentials`)).body.items.map(({ id }: { id: string }) => id);

test('owners see and revoke all git passwords of their sites, collaborators their own', async () => {
  const [owner, helper] = [await fixture.newSignedIn('Laptop <1>'), await fixture.newSignedIn('Phone')];
  const { id: siteId } = await createSite(owner);
  const em = fixture.deps.em();
  em.create(Collaborator, { site: siteId, account: helper.accountId, since: fixture.clock.now() });
  await em.flush();
  expect((await owner.browser.open('/account/agents')).text).not.toContain('Git passwords');
  const [mine, theirs] = [await make(owner, siteId, 'write'), await make(helper, siteId, 'read')];
  const { text } = await owner.browser.open('/account/agents');
  for (const part of [
    'Git passwords',
    'can change the pages',
    'Created by Laptop &#60;1&#62; on ',
    'Created by Person ',
  ])
    expect(text).toContain(part);
  // Those that were never used are folded, each with the end of its user name.
  expect(text).toContain('<summary>2 git passwords were never used</summary>');
  for (const { username } of [mine, theirs]) expect(text).toContain(`user name …${username.slice(-6)}`);
  await em.execute('update git_credential set last_used_at = ? where id = ?', [fixture.clock.now(), mine.id]);
  const listing = (await owner.browser.open('/account/agents')).text;
  expect(listing).toMatch(/Last used just now.*<summary>1 git password was never used/s);
  const helpers = await helper.browser.open('/account/agents');
  expect([helpers.text.includes('can read the pages'), helpers.text.includes('can change the pages')]).toEqual([
    true,
    false,
  ]);
  const pathOf = ({ id }: { id: string }) => `/account/git-credentials/${id}/revoke`;
  expect((await helper.browser.open(pathOf(mine))).status).toBe(404);
  const [form] = formsOf(await helper.browser.open(pathOf(theirs)));
  const refused = await helper.browser.go('POST', `/account/git-credentials/${mine.id}/revoke`, form?.fields, {
    'sec-fetch-site': 'same-origin',
  });
  expect([refused.status, await listed(owner, siteId)]).toEqual([404, [theirs.id, mine.id]]);
  const asked = await owner.browser.open(pathOf(theirs));
  expect(asked.text).toContain(`user name …${theirs.username.slice(-6)}`);
  expect([asked.text.includes('Revoke this git password?'), await listed(owner, siteId)]).toEqual([
    true,
    [theirs.id, mine.id],
  ]);
  const [ours] = formsOf(asked).filter(({ action }) => action.includes(theirs.id));
  const after = await owner.browser.go('POST', ours?.action ?? '', ours?.fields, { 'sec-fetch-site': 'same-origin' });
  expect([after.url, after.text.includes('can read the pages'), await listed(owner, siteId)]).toEqual([
    '/account/agents',
    false,
    [mine.id],
  ]);
});
