/** The page on which an owner widens a token, for calls that name their site in another way. */
import { afterAll, expect, test } from 'vitest';
import { issueToken } from '#api/tokens/rules.ts';
import { usualScope } from '#rules/scopes.ts';
import { callWith, createSite, errorOf } from '#test/api/fixture.ts';
import { createPeopleFixture } from '#test/people/fixture.ts';

const fixture = await createPeopleFixture();
afterAll(() => fixture.close());

test('the page that widens a token names the site of an encoded path', async () => {
  const owner = await fixture.newSignedIn();
  const site = await createSite(owner);
  const scope = { ...usualScope, access: 'read' } as const;
  const { secret } = await issueToken(fixture.deps.em(), fixture.clock, owner.accountId, { name: 'Scoped', scope });
  const call = callWith(fixture.url, secret);
  const path = `/v1/sites/%73ite${site.id.slice(4).replace('_', '%5F')}/archive`;
  const { code, next_action = '' } = errorOf(await call('POST', path));
  expect(code).toBe('out_of_scope');
  const { pathname, search } = new URL(/https?:\/\/\S+(?=,)/.exec(next_action)?.[0] ?? 'none:');
  const page = await owner.browser.open(pathname + search);
  expect(page.text).toContain(`${site.name}.`);
  await owner.browser.press(page, 'Allow once');
  expect((await call('POST', path)).body).toMatchObject({ id: site.id, status: 'archived' });
});
