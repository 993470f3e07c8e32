/** What a token's scope allows beyond single calls, and how an owner widens it. */
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { issueToken } from '#api/tokens/rules.ts';
import { everything, type PartOfScope, type Scope, usualScope } from '#rules/scopes.ts';
import { type Answer, type Caller, callWith, createSite, errorOf } from '#test/api/fixture.ts';
import { createPeopleFixture } from '#test/people/fixture.ts';

const fixture = await createPeopleFixture();
afterAll(() => fixture.close());

type Owner = Awaited<ReturnType<typeof fixture.newSignedIn>>;

async function tokenWith(owner: Pick<Caller, 'accountId'>, scope: Scope) {
  const { deps, clock, url } = fixture;
  const { token, secret } = await issueToken(deps.em(), clock, owner.accountId, { name: 'Scoped', scope });
  return { id: token.id, call: callWith(url, secret) };
}

const scopeOf = async (owner: Owner, id: string) =>
  (await owner.call('GET', '/v1/tokens')).body.items.find((one: { id: string }) => one.id === id).scope;

/** The path of the link in a refusal, after checking that it is one. */
function linkIn(answer: Answer): string {
  const { code, retryable, next_action = '' } = errorOf(answer);
  expect([answer.status, code, retryable]).toEqual([403, 'out_of_scope', false]);
  const link = new URL(/https?:\/\/\S+$/.exec(next_action)?.[0] ?? 'none:');
  return `${link.pathname}${link.search}`;
}

const press = async ({ browser }: Pick<Owner, 'browser'>, link: string, button: string) =>
  await browser.press(await browser.open(link), button);

const named = { body: { name: 'Renamed' } };

test('a new token has its maker’s scope without the powers, and never more', async () => {
  const owner = await fixture.newSignedIn();
  const make = (call: Caller['call'], scope?: unknown) =>
    call('POST', '/v1/tokens', { body: { name: 'T', ...(scope === undefined ? {} : { scope }) } });
  expect((await make(owner.call)).body.scope).toEqual(usualScope);
  expect((await make(owner.call, everything)).body.scope).toEqual(everything);
  const site = await createSite(owner);
  const limited: Scope = { sites: [site.id], access: 'read', payouts: false, account: true };
  const maker = await tokenWith(owner, limited);
  expect((await make(maker.call)).body.scope).toEqual({ ...limited, account: false });
  const more: PartOfScope[] = [{ sites: 'all' }, { access: 'write' }, { payouts: true }];
  for (const one of more) linkIn(await make(maker.call, { ...limited, ...one }));
  const partial = [{}, { sites: [site.id] }, { access: 'read' }, { account: true }];
  for (const part of partial) {
    expect((await make(owner.call, part)).body.scope).toEqual({ ...usualScope, ...part });
    expect((await make(maker.call, part)).body.scope).toEqual({ ...limited, account: false, ...part });
  }
  linkIn(await make(maker.call, { payouts: true }));
  const malformed = [{ ...everything, sites: [] }, { ...everything, sites: [site.id, site.id] }, 'all', null];
  for (const scope of malformed) expect(errorOf(await make(owner.call, scope)).code).toBe('invalid_json');
  const foreign = await createSite(await fixture.newSignedIn());
  for (const id of [foreign.id, 'site_x'])
    for (const call of [owner.call, maker.call])
      expect(errorOf(await make(call, { ...limited, sites: [id] })).code).toBe('not_found');
  const { id: second } = await createSite(owner);
  linkIn(await make(maker.call, { ...limited, sites: [site.id, second] }));
});

test('a token limited to a site lists nothing of other sites', async () => {
  const owner = await fixture.newSignedIn();
  const [mine, hidden] = [await createSite(owner), await createSite(owner)];
  const { call } = await tokenWith(owner, { ...usualScope, sites: [mine.id] });
  expect((await call('GET', '/v1/sites')).body.items.map(({ id }: { id: string }) => id)).toEqual([mine.id]);
  for (const site of [mine, hidden])
    await owner.call('POST', `/v1/sites/${site.id}/comments`, { body: { page: '/', body: 'Larger, please.' } });
  const inbox = async (as: Caller['call']) =>
    (await as('GET', '/v1/inbox?wait=0')).body.items.map(({ site }: { site: { id: string } }) => site.id);
  expect(new Set(await inbox(call))).not.toContain(hidden.id);
  linkIn(await call('GET', `/v1/sites/${hidden.id}`));
  const foreign = await createSite(await fixture.newSignedIn());
  expect(errorOf(await call('GET', `/v1/sites/${foreign.id}`)).code).toBe('not_found');
});

test('a token that may only read gets read-only git credentials', async () => {
  const owner = await fixture.newSignedIn();
  const site = await createSite(owner);
  const { call } = await tokenWith(owner, { ...usualScope, access: 'read' });
  const ask = (access: string) =>
    call('POST', `/v1/sites/${site.id}/git-credentials`, { body: { repository: 'source', access } });
  expect((await ask('read')).status).toBe(200);
  const link = linkIn(await ask('write'));
  await press(owner, link, 'Allow once');
  expect((await ask('write')).body.access).toBe('write');
  linkIn(await ask('write'));
});

test('what an owner allows once works once, for this call and this token', async () => {
  const owner = await fixture.newSignedIn();
  const { id, call } = await tokenWith(owner, usualScope);
  const other = await tokenWith(owner, usualScope);
  const body = { body: { email: 'no address' } };
  const link = linkIn(await call('PATCH', '/v1/account', named));
  expect((await press(owner, link, 'Allow once')).text).toContain('Allowed once');
  linkIn(await other.call('PATCH', '/v1/account', named));
  linkIn(await call('POST', '/v1/tokens', { body: { name: 'Another call' } }));
  expect(errorOf(await call('PATCH', '/v1/account', body)).code).toBe('invalid_email');
  expect((await call('PATCH', '/v1/account', named)).status).toBe(200);
  linkIn(await call('PATCH', '/v1/account', { body: { name: 'Once more' } }));
  expect(await scopeOf(owner, id)).toEqual(usualScope);
});

test('of concurrent calls that an owner allowed once, one succeeds', async () => {
  const owner = await fixture.newSignedIn();
  const { call } = await tokenWith(owner, usualScope);
  await press(owner, linkIn(await call('PATCH', '/v1/account', named)), 'Allow once');
  const names = Array.from({ length: 8 }, (_, n) => ({ body: { name: `Name ${n}` } }));
  const answers = await Promise.all(names.map((sent) => call('PATCH', '/v1/account', sent)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(403)]);
});

test('a call that an owner allowed once may be repeated with its key', async () => {
  const owner = await fixture.newSignedIn();
  const { call } = await tokenWith(owner, usualScope);
  const make = (key: string, path = '/v1/tokens', name = 'T') =>
    call('POST', path, { body: { name }, headers: { 'idempotency-key': key } });
  await press(owner, linkIn(await make('one')), 'Allow once');
  const first = await make('one');
  for (const path of ['/v1/tokens?', '/v1/tokens?&', '/v1/%74okens']) linkIn(await make('one', path, 'More'));
  expect((await make('one')).body).toEqual(first.body);
  linkIn(await make('two'));
});

test('a failing call gives back only what it used itself', async () => {
  const owner = await fixture.newSignedIn();
  const { call } = await tokenWith(owner, usualScope);
  const make = (body: unknown) => call('POST', '/v1/tokens', { body, headers: { 'idempotency-key': 'one' } });
  await press(owner, linkIn(await make({ name: 'T' })), 'Allow once');
  const answers = await Promise.all([{ name: 'T' }, { name: '' }, { name: 'T' }, { name: '' }].map(make));
  await make({ name: 'T' });
  await make({ name: 'T' });
  const made = (await owner.call('GET', '/v1/tokens')).body.items.filter((one: { name: string }) => one.name === 'T');
  expect([made.length, answers.filter(({ status }) => status === 500)]).toEqual([1, []]);
});

test('a permission for one call ends after ten minutes, its link after a day', async () => {
  const owner = await fixture.newSignedIn();
  const { call } = await tokenWith(owner, usualScope);
  const link = linkIn(await call('PATCH', '/v1/account', named));
  await press(owner, link, 'Allow once');
  fixture.skip(10 * 60_000);
  linkIn(await call('PATCH', '/v1/account', named));
  await press(owner, link, 'Allow once');
  expect((await call('PATCH', '/v1/account', named)).status).toBe(200);
  fixture.skip(24 * 3_600_000);
  expect((await owner.browser.open(link)).status).toBe(410);
});

test('an owner widens a token for good by what it lacked, and no more', async () => {
  const owner = await fixture.newSignedIn();
  const [mine, hidden] = [await createSite(owner), await createSite(owner)];
  const { id, call } = await tokenWith(owner, { ...usualScope, sites: [mine.id], access: 'read' });
  await press(owner, linkIn(await call('GET', `/v1/sites/${hidden.id}`)), 'Allow always');
  expect((await scopeOf(owner, id)).sites.sort()).toEqual([mine.id, hidden.id].sort());
  const link = linkIn(await call('PATCH', `/v1/sites/${hidden.id}`, { body: { title: 'New' } }));
  const page = await owner.browser.open(link);
  expect(page.text).toContain(hidden.name);
  expect(page.text).toContain('Scoped');
  await owner.browser.press(page, 'Allow always');
  expect((await call('PATCH', `/v1/sites/${hidden.id}`, { body: { title: 'New' } })).status).toBe(200);
  const scope = await scopeOf(owner, id);
  expect({ ...scope, sites: scope.sites.length }).toEqual({ ...usualScope, sites: 2 });
});

test('two links that widen a token at the same time both count', async () => {
  const owner = await fixture.newSignedIn();
  const site = await createSite(owner);
  const { id, call } = await tokenWith(owner, { ...usualScope, access: 'read' });
  const refused = [await call('PATCH', '/v1/account', named), await call('PATCH', `/v1/sites/${site.id}`, named)];
  const pages = await Promise.all(refused.map((answer) => owner.browser.open(linkIn(answer))));
  await Promise.all(pages.map((page) => owner.browser.press(page, 'Allow always')));
  expect(await scopeOf(owner, id)).toEqual({ ...usualScope, account: true });
});

test('a token hands on its own scope at most, unless its owner allows more', async () => {
  const owner = await fixture.newSignedIn();
  const { call } = await tokenWith(owner, usualScope);
  const make = (scope: Scope) => call('POST', '/v1/tokens', { body: { name: 'T', scope } });
  await press(owner, linkIn(await make({ ...usualScope, payouts: true })), 'Allow once');
  const link = linkIn(await make({ ...usualScope, payouts: true }));
  expect((await owner.browser.open(link)).text).toContain('The new access that it creates may');
  await press(owner, link, 'Allow once');
  linkIn(await make(everything));
  expect((await make({ ...usualScope, payouts: true })).body.scope).toEqual({ ...usualScope, payouts: true });
});

test('a link is worth nothing to others, changed, or by being opened', async () => {
  const owner = await fixture.newSignedIn();
  const stranger = await fixture.newSignedIn();
  const { id, call } = await tokenWith(owner, usualScope);
  const link = linkIn(await call('PATCH', '/v1/account', named));
  await owner.browser.open(link);
  expect((await stranger.browser.open(link)).status).toBe(404);
  const posted = { answer: 'always' };
  expect((await stranger.browser.go('POST', link, posted)).status).toBe(400);
  const page = await stranger.browser.open('/account');
  const form = /name="form" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
  const same = { 'sec-fetch-site': 'same-origin' };
  expect((await stranger.browser.go('POST', link, { ...posted, form }, same)).status).toBe(404);
  for (const changed of [`${link}x`, link.replace('ask=', 'ask=x'), '/account/widen'])
    expect((await owner.browser.open(changed)).status, changed).toBe(404);
  linkIn(await call('PATCH', '/v1/account', named));
  expect(await scopeOf(owner, id)).toEqual(usualScope);
});

test('an owner who signs in from a link returns to its page', async () => {
  const owner = await fixture.newOwner();
  const { call } = await tokenWith(owner, usualScope);
  const link = linkIn(await call('PATCH', '/v1/account', named));
  const browser = fixture.browser();
  const signin = await browser.open(link);
  expect(signin.text).toContain('Your agent asks you');
  const page = await fixture.signIn(browser, owner.email, signin);
  expect(page.text).toContain('Let “Scoped” do this?');
  await browser.press(page, 'Allow once');
  expect((await call('PATCH', '/v1/account', named)).status).toBe(200);
});

test('a token renames itself, and no other without the power', async () => {
  const owner = await fixture.newSignedIn();
  const { id, call } = await tokenWith(owner, usualScope);
  const other = await tokenWith(owner, usualScope);
  expect((await call('PATCH', `/v1/tokens/${id}`, named)).status).toBe(200);
  linkIn(await call('PATCH', `/v1/tokens/${other.id}`, named));
  linkIn(await call('DELETE', `/v1/tokens/${other.id}`));
});

test('without sign-in a refusal names no link', async () => {
  const closed = await createPeopleFixture({ FRONTAGE_EMAIL_SIGNIN: 'off' });
  onTestFinished(() => closed.close());
  const { accountId } = await closed.newCaller();
  const { secret } = await issueToken(closed.deps.em(), closed.clock, accountId, { name: 'T', scope: usualScope });
  const refused = await callWith(closed.url, secret)('PATCH', '/v1/account', named);
  expect(errorOf(refused)).toMatchObject({ code: 'out_of_scope' });
  expect(errorOf(refused).next_action).not.toContain('http');
});

test('a token that made another does not get what an owner gave that one', async () => {
  const owner = await fixture.newSignedIn();
  const maker = await tokenWith(owner, { ...usualScope, account: true });
  const { body: made } = await maker.call('POST', '/v1/tokens', { body: { name: 'Made' } });
  const rotate = () => maker.call('POST', `/v1/tokens/${made.id}/rotate`);
  expect((await rotate()).status).toBe(200);
  await fixture.deps.em().execute(`update token set scope = scope || '{"payouts": true}' where id = ?`, [made.id]);
  linkIn(await rotate());
});
