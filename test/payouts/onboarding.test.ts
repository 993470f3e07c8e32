/** The way of an owner through the provider's pages: our link, a fresh one of theirs at each opening, and the way back. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Account } from '#db/accounts/account.ts';
import { revokeAllAccess } from '#db/auth/token-revocation.ts';
import { type Caller, callWith, errorOf } from '#test/api/fixture.ts';
import { setForTest } from '#test/stack/for-test.ts';
import { answered, createPayoutFixture, outcome, type PayoutFixture } from './fixture.ts';

let fixture: PayoutFixture;
beforeAll(async () => {
  fixture = await createPayoutFixture();
});
afterAll(() => fixture?.close());

const onboard = (owner: Caller, id: string, headers = {}) =>
  owner.call('POST', `${fixture.accounts}/${id}/onboarding`, { headers });
const pathOf = (url: string) => new URL(url).pathname;
/** What a page says; its drawing has an awning. */
const said = ({ text }: { text: string }) => text.slice(text.indexOf('<h1>'));
const visit = (path: string) => callWith(fixture.url)('GET', path);

async function newConnected() {
  const owner = await fixture.newCaller();
  const { id } = answered(await fixture.add(owner, { name: 'Bakery', rail: 'connect' }));
  const link = answered(await onboard(owner, id));
  const read = async () => (await fixture.list(owner))[0];
  return { owner, id, link, path: pathOf(link.url), read };
}

/** As the owner's browser: follows the provider's pages to the end. Answers where he is sent back to. */
async function complete(page: string): Promise<string> {
  const answer = await fetch(`${page}/finish`, { method: 'POST', redirect: 'manual' });
  return pathOf(answer.headers.get('location') ?? 'http://nowhere/');
}

test('each opening of the link creates a new page, and completion activates the account', async () => {
  const { path, read, link } = await newConnected();
  expect(Date.parse(link.expires_at)).toBeGreaterThan(fixture.clock.now().getTime() + 23 * 3600_000);
  const [one, two] = [await visit(path), await visit(path)];
  expect([one.status, two.status, one.headers.get('cache-control')]).toEqual([303, 303, 'no-store']);
  const [first, second] = [one.headers.get('location') ?? '', two.headers.get('location') ?? ''];
  expect(first).toContain(fixture.stub.url);
  expect(second).not.toBe(first);
  const accounts = [...fixture.stub.stub.objects.values()].filter((one) => one.byPlatform);
  expect(accounts).toHaveLength(1);
  const notYet = await visit(`${path}/done`);
  expect([notYet.status, notYet.text]).toEqual([200, expect.stringContaining('Not complete yet')]);
  expect(notYet.text).toContain('a bank account for payouts');
  const back = await complete(second);
  expect(back).toBe(`${path}/done`);
  const done = await visit(back);
  expect(done.text).toContain('Connected');
  expect(`${said(notYet)}${said(done)}`).not.toMatch(/stripe/i);
  expect(await read()).toMatchObject({ status: 'ready', currency: 'EUR', waiting_for: [] });
});

test('viewing the link creates no account, and explains its purpose', async () => {
  const { path, read } = await newConnected();
  const count = () => [...fixture.stub.stub.objects.values()].filter((one) => one.byPlatform).length;
  const before = count();
  const lookers: RequestInit[] = [
    { method: 'HEAD' },
    { headers: { 'user-agent': 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)' } },
    { headers: { 'sec-purpose': 'prefetch', 'sec-fetch-dest': 'document' } },
    { headers: { 'sec-fetch-dest': 'image' } },
  ];
  for (const looker of lookers) {
    const answer = await fetch(`${fixture.url}${path}`, { redirect: 'manual', ...looker });
    expect([answer.status, answer.headers.get('location')]).toEqual([200, null]);
    expect(await answer.text()).toContain(looker.method === 'HEAD' ? '' : 'Connect Bakery');
  }
  expect(count()).toBe(before);
  expect((await visit(path)).status).toBe(303);
  expect(count()).toBe(before + 1);
  expect(await read()).toMatchObject({ status: 'pending' });
});

test('an account with its owner’s own key is refused onboarding', async () => {
  const owner = await fixture.newCaller();
  const { id } = await fixture.newAccount(owner);
  expect(errorOf(await onboard(owner, id))).toMatchObject({
    code: 'invalid_payout_account',
    message: expect.stringContaining('has its own key'),
  });
});

test('a link ends after a day, when replaced, and when the account is removed', async () => {
  const { owner, id, path } = await newConnected();
  const later = pathOf(answered(await onboard(owner, id)).url);
  expect((await visit(path)).status).toBe(404);
  expect((await visit(later)).status).toBe(303);
  fixture.skip(24 * 3600_000);
  const over = await visit(later);
  expect([over.status, over.text]).toEqual([410, expect.stringContaining('has expired')]);
  const last = pathOf(answered(await onboard(owner, id)).url);
  expect((await visit(last)).status).toBe(303);
  answered(await owner.call('DELETE', `${fixture.accounts}/${id}`));
  expect((await visit(last)).status).toBe(404);
  expect((await visit(`${last}/done`)).status).toBe(404);
  expect((await visit('/connect/frc_nothing')).status).toBe(404);
});

test('a link ends with the token that created it, and with all access', async () => {
  const { owner, id } = await newConnected();
  const expires_at = new Date(fixture.clock.now().getTime() + 3600_000).toISOString();
  const body = { name: 'Agent', expires_at, scope: { payouts: true } };
  const token = answered(await owner.call('POST', '/v1/tokens', { body }));
  const agent = { ...owner, call: callWith(fixture.url, token.access_token) };
  const made = answered(await onboard(agent, id));
  expect(made.expires_at).toBe(expires_at);
  expect((await visit(pathOf(made.url))).status).toBe(303);
  answered(await owner.call('DELETE', `/v1/tokens/${token.id}`));
  expect((await visit(pathOf(made.url))).status).toBe(404);
  // One that a person made in a browser ends with all access to the account.
  const last = answered(await onboard(owner, id));
  const em = fixture.deps.em();
  await em.execute('update payout_onboarding set made_by = null where payout_account_id = ?', [id]);
  await em.transactional((tx) => revokeAllAccess(tx, owner.accountId, fixture.clock.now()));
  expect((await visit(pathOf(last.url))).status).toBe(404);
});

test('a link does not work while its owner deletes the account', async () => {
  const { owner, path } = await newConnected();
  const deleting = (deleteAt: Date | null) =>
    fixture.deps.em().nativeUpdate(Account, { id: owner.accountId }, { deleteAt });
  await deleting(new Date(fixture.clock.now().getTime() + 24 * 3600_000));
  const refused = await visit(path);
  expect([refused.status, refused.text]).toEqual([
    403,
    expect.stringContaining('Its owner can sign in and restore it'),
  ]);
  expect((await visit(`${path}/done`)).status).toBe(403);
  await deleting(null);
  expect((await visit(path)).status).toBe(303);
});

test('the link is returned to its creator, also repeatedly, and is in no row', async () => {
  const { owner, id } = await newConnected();
  const [one, two] = [
    answered(await onboard(owner, id, { 'idempotency-key': 'same' })),
    answered(await onboard(owner, id, { 'idempotency-key': 'same' })),
  ];
  expect(two.url).toBe(one.url);
  expect((await visit(pathOf(two.url))).status).toBe(303);
  const rows = await fixture.deps.em().execute('select payout_onboarding::text as row from payout_onboarding');
  expect(JSON.stringify(rows)).not.toContain(pathOf(one.url).split('/').at(-1));
  expect(JSON.stringify(fixture.logged)).not.toContain(pathOf(one.url).split('/').at(-1));
});

test('without the provider, the page says so plainly, and the link stays valid', async () => {
  const { path, read } = await newConnected();
  setForTest(fixture.stub.knobs, { turnAway: 1 });
  const away = await visit(path);
  fixture.stub.knobs.turnAway = 0;
  expect([away.status, away.text]).toEqual([502, expect.stringContaining('did not respond, or rejected the request')]);
  expect(said(away)).not.toMatch(/stripe/i);
  expect((await visit(path)).status).toBe(303);
  expect(await read()).toMatchObject({ status: 'pending' });
});

test('concurrent openings create one provider account', async () => {
  const { path } = await newConnected();
  const count = () => [...fixture.stub.stub.objects.values()].filter((one) => one.byPlatform).length;
  const before = count();
  const answers = await Promise.all(Array.from({ length: 20 }, () => visit(path)));
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(303));
  expect(count()).toBe(before + 1);
});

test('a stranger neither creates a link nor learns of the account', async () => {
  const { id } = await newConnected();
  expect(outcome(await onboard(await fixture.newCaller(), id))).toBe('not_found');
});
