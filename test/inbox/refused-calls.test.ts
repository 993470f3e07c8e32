/** Calls that a token was refused: what the inbox says of them, to whom, and for how long. */
import { afterAll, expect, test } from 'vitest';
import { reconciliationActivities } from '#activities/reconciliation.ts';
import { issueToken } from '#api/tokens/rules.ts';
import { RefusedCall } from '#db/auth/refused-call.ts';
import { type Scope, usualScope } from '#rules/scopes.ts';
import { type Call, callWith, createSite, errorOf } from '#test/api/fixture.ts';
import { createPeopleFixture } from '#test/people/fixture.ts';
import { until } from '#test/stack/until.ts';
import { arrivalsOf } from './fixture.ts';

const fixture = await createPeopleFixture();
const second = await fixture.start();
afterAll(() => fixture.close());
const hourMs = 3_600_000;

type Owner = Awaited<ReturnType<typeof fixture.newSignedIn>>;
type Item = { kind: string; id: string; title: string; next_action: string; site: unknown };

async function tokenWith({ accountId }: Pick<Owner, 'accountId'>, scope: Scope = usualScope, name = 'Scoped') {
  const { deps, clock, url } = fixture;
  const { token, secret } = await issueToken(deps.em(), clock, accountId, { name, scope });
  return { id: token.id, call: callWith(url, secret) };
}

const listed = async (call: Call, query = ''): Promise<Item[]> =>
  (await call('GET', `/v1/inbox?wait=0${query}`)).body.items.filter((one: Item) => one.kind === 'access_to_widen');
const rename = (call: Call, name = 'Renamed') => call('PATCH', '/v1/account', { body: { name } });
const linkIn = (text: string) => {
  const link = new URL(/https?:\/\/\S+$/.exec(text)?.[0] ?? 'none:');
  return `${link.pathname}${link.search}`;
};
const press = async ({ browser }: Owner, [item]: Item[], button: string) =>
  await browser.press(await browser.open(linkIn(item?.next_action ?? '')), button);

test('the inbox names the token of a refused call, and what it lacks', async () => {
  const owner = await fixture.newSignedIn();
  const stranger = await fixture.newSignedIn();
  const { call } = await tokenWith(owner, usualScope, 'Claude');
  const refused = errorOf(await rename(call));
  expect(refused.code).toBe('out_of_scope');
  const items = await listed(owner.call);
  expect(items).toMatchObject([
    {
      kind: 'access_to_widen',
      site: null,
      who: 'Claude',
      title: expect.stringMatching(/“Claude” was refused a call: .+`account`/),
    },
  ]);
  expect(items[0]?.id).toMatch(/^ask_/);
  expect(linkIn(items[0]?.next_action ?? '')).toBe(linkIn(refused.next_action ?? ''));
  const page = await owner.browser.open(linkIn(items[0]?.next_action ?? ''));
  expect([page.status, page.text.includes('Let “Claude” do this?')]).toEqual([200, true]);
  expect(await listed(stranger.call)).toEqual([]);
});

test('a waiting call returns when a call is refused, on any process', async () => {
  const owner = await fixture.newSignedIn();
  const { call } = await tokenWith(owner);
  const before = await arrivalsOf(fixture, owner.accountId);
  const waits = [fixture.url, second.url].map((base) => callWith(base, owner.token)('GET', '/v1/inbox?wait=50'));
  await until(
    () => arrivalsOf(fixture, owner.accountId),
    (n) => n >= before + 2,
  );
  await rename(call);
  for (const { body } of await Promise.all(waits))
    expect(body.items.map(({ kind }: Item) => kind)).toEqual(['access_to_widen']);
});

test.each([
  ['Allow once', 200],
  ['Allow always', 200],
  ['Refuse', 403],
])('after the owner’s answer %j the item is gone', async (button, status) => {
  const owner = await fixture.newSignedIn();
  const { call } = await tokenWith(owner);
  await rename(call);
  expect((await press(owner, await listed(owner.call), button)).status).toBe(200);
  expect(await listed(owner.call)).toEqual([]);
  expect((await rename(call)).status).toBe(status);
  expect(await listed(owner.call)).toEqual([]);
});

test('a refused call is listed again when it needs a new answer', async () => {
  const owner = await fixture.newSignedIn();
  const { call } = await tokenWith(owner);
  await rename(call);
  await press(owner, await listed(owner.call), 'Allow once');
  await rename(call);
  await rename(call, 'Once more');
  expect(await listed(owner.call)).toHaveLength(1);
  await press(owner, await listed(owner.call), 'Refuse');
  await rename(call);
  fixture.skip(23 * hourMs);
  await rename(call);
  expect(await listed(owner.call)).toEqual([]);
  fixture.skip(2 * hourMs);
  await rename(call);
  expect(await listed(owner.call)).toHaveLength(1);
});

test('an item lasts for a day after the last refusal', async () => {
  const owner = await fixture.newSignedIn();
  const { call } = await tokenWith(owner);
  await rename(call);
  const [first] = await listed(owner.call);
  fixture.skip(20 * hourMs);
  await rename(call);
  fixture.skip(20 * hourMs);
  const [again] = await listed(owner.call);
  expect(again?.id).toBe(first?.id);
  expect((await owner.browser.open(linkIn(again?.next_action ?? ''))).status).toBe(200);
  fixture.skip(4 * hourMs + 1);
  expect(await listed(owner.call)).toEqual([]);
  await reconciliationActivities(fixture.deps).sweepRows();
  expect(await fixture.deps.em().count(RefusedCall, { account: owner.accountId })).toBe(0);
});

test('the item ends with its token, and when the token gets what it lacked', async () => {
  const owner = await fixture.newSignedIn();
  const [kept, revoked] = [await tokenWith(owner), await tokenWith(owner)];
  await rename(revoked.call);
  await rename(kept.call);
  await kept.call('POST', '/v1/tokens', { body: { name: 'T' } });
  expect(await listed(owner.call)).toHaveLength(3);
  expect((await owner.call('DELETE', `/v1/tokens/${revoked.id}`)).status).toBe(200);
  const items = await listed(owner.call);
  expect(items).toHaveLength(2);
  // One answer gives the token what the other call lacks, too.
  await press(owner, items, 'Allow always');
  expect(await listed(owner.call)).toEqual([]);
});

test('a token has at most ten items, however many calls are refused at once', async () => {
  const owner = await fixture.newSignedIn();
  const { call } = await tokenWith(owner);
  const paths = Array.from({ length: 24 }, (_, n) => `/v1/tokens/tok_${n}`);
  const answers = await Promise.all(paths.flatMap((path) => [call('DELETE', path), call('DELETE', path)]));
  for (const answer of answers) expect(errorOf(answer)).toMatchObject({ code: 'out_of_scope' });
  expect(await fixture.deps.em().count(RefusedCall, { account: owner.accountId })).toBe(10);
  const other = await tokenWith(owner);
  await rename(other.call);
  expect(await listed(owner.call, '&limit=100')).toHaveLength(11);
});

test('a token for some sites sees no refused calls about others', async () => {
  const owner = await fixture.newSignedIn();
  const [mine, hidden] = [await createSite(owner), await createSite(owner)];
  const limited = await tokenWith(owner, { ...usualScope, sites: [mine.id], access: 'read' });
  await limited.call('GET', `/v1/sites/${hidden.id}`);
  await limited.call('PATCH', `/v1/sites/${mine.id}`, { body: { title: 'New' } });
  await rename((await tokenWith(owner, { ...usualScope, sites: [mine.id] })).call);
  const named = (items: Item[]) => items.map(({ site }) => (site as { id: string } | null)?.id).sort();
  expect(named(await listed(owner.call))).toEqual([mine.id, hidden.id, undefined].sort());
  expect(named(await listed(limited.call))).toEqual([mine.id]);
  const stranger = await fixture.newSignedIn();
  await limited.call('GET', `/v1/sites/${(await createSite(stranger)).id}`);
  expect(await listed(stranger.call)).toEqual([]);
  expect(await listed(owner.call)).toHaveLength(3);
});

test('the account page lists refused calls, with a link to decide', async () => {
  const owner = await fixture.newSignedIn();
  expect((await owner.browser.open('/account')).text).not.toContain('Your agents ask for more access');
  const { call } = await tokenWith(owner, usualScope, 'Claude <1>');
  await rename(call);
  const account = await owner.browser.open('/account');
  expect(account.text).toMatch(/Your agents ask for more[\s\S]+Claude &#60;1&#62;[\s\S]+<small>Refused /);
  const link = /<a [^>]*href="([^"]+)">Decide</.exec(account.text)?.[1] ?? '';
  expect(link).toMatch(/^\/account\/widen\?ask=/);
  await owner.browser.press(await owner.browser.open(link), 'Allow once');
  expect((await owner.browser.open('/account')).text).not.toContain('Your agents ask for more access');
  expect((await rename(call)).status).toBe(200);
});

test('refusing needs the owner’s session and a press', async () => {
  const owner = await fixture.newSignedIn();
  const stranger = await fixture.newSignedIn();
  const { call } = await tokenWith(owner);
  await rename(call);
  const items = await listed(owner.call);
  const link = linkIn(items[0]?.next_action ?? '');
  const page = await owner.browser.open(link);
  expect((await stranger.browser.open(link)).status).toBe(404);
  const form = /name="form" value="([^"]+)"/.exec((await stranger.browser.open('/account')).text)?.[1] ?? '';
  const forged = { form, answer: 'refuse' };
  expect((await stranger.browser.go('POST', link, forged, { 'sec-fetch-site': 'same-origin' })).status).toBe(404);
  expect((await owner.browser.go('POST', link, { answer: 'refuse' })).status).toBe(400);
  expect(await listed(owner.call)).toEqual(items);
  expect((await owner.browser.press(page, 'Refuse')).text).toContain('Your agent gets no additional access');
  expect(await listed(owner.call)).toEqual([]);
});
