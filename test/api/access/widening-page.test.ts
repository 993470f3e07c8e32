/** The page on which an owner widens a token: what it shows of the refused call. */
import { afterAll, expect, test } from 'vitest';
import { issueToken } from '#api/tokens/rules.ts';
import { type Scope, usualScope } from '#rules/scopes.ts';
import { type Answer, callWith, createSite, errorOf } from '#test/api/fixture.ts';
import { createPeopleFixture } from '#test/people/fixture.ts';

const fixture = await createPeopleFixture();
afterAll(() => fixture.close());

type Owner = Awaited<ReturnType<typeof fixture.newSignedIn>>;

async function tokenFor({ accountId }: Owner, scope: Scope = { ...usualScope, access: 'read' }) {
  const { secret } = await issueToken(fixture.deps.em(), fixture.clock, accountId, { name: 'Scoped', scope });
  return callWith(fixture.url, secret);
}

function linkIn(refused: Answer): string {
  const { code, next_action = '' } = errorOf(refused);
  expect(code).toBe('out_of_scope');
  const { pathname, search } = new URL(/https?:\/\/\S+$/.exec(next_action)?.[0] ?? 'none:');
  return pathname + search;
}

test('the page that widens a token names the site of an encoded path', async () => {
  const owner = await fixture.newSignedIn();
  const site = await createSite(owner);
  const call = await tokenFor(owner);
  const path = `/v1/sites/%73ite${site.id.slice(4).replace('_', '%5F')}/archive`;
  const page = await owner.browser.open(linkIn(await call('POST', path)));
  expect(page.text).toContain(`${site.name}.`);
  await owner.browser.press(page, 'Allow once');
  expect((await call('POST', path)).body).toMatchObject({ id: site.id, status: 'archived' });
});

test('the page that widens a token shows a site’s title and the new one', async () => {
  const owner = await fixture.newSignedIn();
  const site = await createSite(owner, { title: 'The <old> bakery' });
  const call = await tokenFor(owner);
  const change = (body: unknown) => call('PATCH', `/v1/sites/${site.id}`, { body });
  const shown = async (body: unknown) => (await owner.browser.open(linkIn(await change(body)))).text;
  expect(await shown({ title: 'Mira’s <b>\n\u202Ebread', name: 'mira' })).toContain(
    'Change a site’s title, name or colours: title “Mira’s &#60;b&#62; bread”, name “mira”',
  );
  expect(await shown({ title: 'x'.repeat(10_000) })).toContain(`title “${'x'.repeat(100)}…”`);
  for (const nothing of [{}, { title: 3 }, [], null, 'title'])
    expect(await shown(nothing)).toContain('Change a site’s title, name or colours</dd>');
  expect(await shown({})).toContain(`“The &#60;old&#62; bakery” (${site.name}.`);
  const create = call('POST', '/v1/sites', { body: { title: 'A second one', name: 'second', template: 'blank' } });
  expect((await owner.browser.open(linkIn(await create))).text).toContain('title “A second one”, name “second”');
});

test('a title that an owner allows once is the only one', async () => {
  const owner = await fixture.newSignedIn();
  const site = await createSite(owner);
  const call = await tokenFor(owner);
  const change = (body: unknown) => call('PATCH', `/v1/sites/${site.id}`, { body });
  const link = linkIn(await change({ title: 'As shown' }));
  await owner.browser.press(await owner.browser.open(link), 'Allow once');
  for (const other of [{ title: 'Another' }, { title: 'As shown', name: 'another' }, {}]) linkIn(await change(other));
  expect((await change({ title: 'As shown' })).body.title).toBe('As shown');
  linkIn(await change({ title: 'As shown' }));
});

test('deleting a site that is online is refused before the owner is asked', async () => {
  const owner = await fixture.newSignedIn();
  const [site, other] = [await createSite(owner), await createSite(owner)];
  const told = async (scope: Scope) => {
    const call = await tokenFor(owner, scope);
    return errorOf(await call('DELETE', `/v1/sites/${site.id}?confirm=true`)).code;
  };
  const elsewhere: Scope = { ...usualScope, sites: [other.id] };
  expect([await told(usualScope), await told(elsewhere)]).toEqual(['site_not_archived', 'out_of_scope']);
  await owner.call('POST', `/v1/sites/${site.id}/archive`);
  expect(await told(usualScope)).toBe('out_of_scope');
});
