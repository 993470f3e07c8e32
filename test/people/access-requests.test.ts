import { afterAll, expect, test } from 'vitest';
import { callWith, errorOf } from '#test/api/fixture.ts';
import { createPeopleFixture } from './fixture.ts';

const fixture = await createPeopleFixture();
const second = await fixture.start();
afterAll(() => fixture.close());
const minutes = (n: number) => n * 60_000;
const outcome = async (asked: { id: string; secret: string }) => {
  const answer = await fixture.redeem(asked);
  return answer.status === 200 ? answer.body.status : errorOf(answer).code;
};

/** A request with the page that its mail leads to, and the buttons on it. */
async function asked(email: string, more: Record<string, unknown> = {}) {
  const { body, status, text } = await fixture.ask(email, more);
  if (status !== 200) throw new Error(text);
  const browser = fixture.browser();
  const link = await fixture.linkTo(email, 'access-request');
  return {
    ...body,
    link,
    approve: async (code: string = body.user_code) => browser.press(await browser.open(link), 'Give access', { code }),
    deny: async () => browser.press(await browser.open(link), 'Refuse'),
  };
}

test('an agent requests access, the owner enters its code, and the token works', async () => {
  const { email, accountId } = await fixture.newOwner();
  const request = await asked(email, { agent_name: 'Site builder' });
  expect(request).toMatchObject({ status: 'pending', interval_seconds: 5 });
  expect(request.user_code).toMatch(/^[B-Z]{8}$/);
  expect(request.next_action).toContain(`POST /v1/auth/requests/${request.id}/redeem`);
  expect(Date.parse(request.expires_at) - fixture.clock.now().getTime()).toBeGreaterThan(minutes(14));
  const waiting = await fixture.redeem(request);
  expect(waiting.body).toMatchObject({ id: request.id, status: 'pending', interval_seconds: 5 });
  expect(waiting.body.next_action).toContain('every 5 seconds');
  expect((await request.approve()).text).toContain('Access granted');
  const { body } = await fixture.redeem(request);
  expect(body).toMatchObject({
    status: 'approved',
    token: { name: 'Site builder', last_four: body.access_token.slice(-4) },
  });
  const account = await callWith(second.url, body.access_token)('GET', '/v1/account');
  expect(account.body).toMatchObject({ id: accountId, email });
});

test('a request is redeemed once', async () => {
  const { email } = await fixture.newOwner();
  const request = await asked(email);
  await request.approve();
  expect([await outcome(request), await outcome(request), await outcome(request)]).toEqual([
    'approved',
    'already_redeemed',
    'already_redeemed',
  ]);
});

test('of 100 concurrent redemptions over two processes exactly one gets the token', async () => {
  const { email, accountId } = await fixture.newOwner();
  const request = await asked(email);
  await request.approve();
  const calls = [fixture.anyone, callWith(second.url)];
  const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => fixture.redeem(request, calls[n % 2])));
  const won = answers.filter(({ status }) => status === 200);
  expect(won).toHaveLength(1);
  const codes = new Set(answers.filter((one) => !won.includes(one)).map((one) => errorOf(one).code));
  expect([...codes]).toEqual(['already_redeemed']);
  const tokens = await fixture.deps.em().execute('select id from token where account_id = ?', [accountId]);
  expect(tokens).toHaveLength(1);
  expect((await callWith(fixture.url, won[0]?.body.access_token)('GET', '/v1/account')).status).toBe(200);
}, 120_000);

test('the owner denies without a code, and the agent gets access_denied', async () => {
  const { email } = await fixture.newOwner();
  const request = await asked(email);
  expect((await request.deny()).text).toContain('Access refused');
  const answer = await fixture.redeem(request);
  expect([answer.status, errorOf(answer).code]).toEqual([403, 'access_denied']);
  expect((await request.approve().catch(() => ({ text: 'no form' }))).text).toBe('no form');
  expect(await outcome(request)).toBe('access_denied');
});

test('a request expires after 15 minutes, for agent and owner', async () => {
  const { email } = await fixture.newOwner();
  const request = await asked(email);
  const browser = fixture.browser();
  const page = await browser.open(request.link);
  fixture.skip(minutes(15) - 2000);
  expect(await outcome(request)).toBe('pending');
  fixture.skip(2001);
  const answer = await fixture.redeem(request);
  expect([answer.status, errorOf(answer).code]).toEqual([410, 'expired']);
  const late = await browser.press(page, 'Give access', { code: request.user_code });
  expect([late.status, late.text]).toEqual([410, expect.stringContaining('This request has expired')]);
  expect((await browser.open(request.link)).status).toBe(410);
  expect(await outcome(request)).toBe('expired');
});

test('an approval can be redeemed for another 15 minutes', async () => {
  const { email } = await fixture.newOwner();
  const [kept, lost] = [await asked(email), await asked((await fixture.newOwner()).email)];
  fixture.skip(minutes(14));
  await kept.approve();
  await lost.approve();
  fixture.skip(minutes(14));
  expect(await outcome(kept)).toBe('approved');
  fixture.skip(minutes(1) + 1);
  expect(await outcome(lost)).toBe('expired');
});

test('polling faster than the interval is rate_limited, with the time to retry', async () => {
  const { email } = await fixture.newOwner();
  const request = await asked(email);
  expect(await outcome(request)).toBe('pending');
  const answer = await fixture.redeem(request, callWith(second.url));
  expect([answer.status, errorOf(answer).code, errorOf(answer).retryable]).toEqual([429, 'rate_limited', true]);
  const seconds = Number(answer.headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(5);
  fixture.skip(seconds * 1000);
  expect(await outcome(request)).toBe('pending');
});

test('a wrong secret, and the secret of another request, are not found', async () => {
  const [mine, other] = [await asked((await fixture.newOwner()).email), await asked((await fixture.newOwner()).email)];
  for (const secret of ['x', '', other.secret, mine.secret.slice(0, -1), `${mine.secret}A`, mine.user_code]) {
    const answer = await fixture.redeem({ id: mine.id, secret });
    expect([answer.status, errorOf(answer).code]).toEqual([404, 'not_found']);
  }
  expect(await outcome({ id: 'areq_01h455vb4pex5vsknk084sn02q', secret: mine.secret })).toBe('not_found');
  expect(await outcome(mine)).toBe('pending');
});

test('several requests for an address are pending at once, also concurrently', async () => {
  const { email } = await fixture.newOwner();
  const first = await asked(email);
  const next = await asked(email);
  expect([await outcome(first), await outcome(next)]).toEqual(['pending', 'pending']);
  const many = await Promise.all(Array.from({ length: 20 }, () => fixture.ask(email)));
  expect(new Set(many.map(({ status }) => status))).toEqual(new Set([200]));
  const outcomes = await Promise.all(many.map(({ body }) => outcome(body)));
  expect(new Set(outcomes)).toEqual(new Set(['pending']));
});

test('unknown addresses get the same responses and mail as known ones', async () => {
  const known = (await fixture.newOwner()).email;
  const unknown = fixture.newAddress();
  const [one, other] = [await fixture.ask(known), await fixture.ask(unknown)];
  expect(Object.keys(one.body)).toEqual(Object.keys(other.body));
  expect([one.status, other.status]).toEqual([200, 200]);
  const shapes = await Promise.all(
    [known, unknown].map(async (email) => (await fixture.lettersTo(email)).map(({ kind, subject }) => [kind, subject])),
  );
  expect(shapes[0]).toHaveLength(1);
  expect(shapes[0]).toEqual(shapes[1]);
  const polls = [await fixture.redeem(one.body), await fixture.redeem(other.body)];
  expect(polls.map(({ body }) => body.status)).toEqual(['pending', 'pending']);
});

test('an approval without an account is signin_unavailable if sign-up is closed', async () => {
  const request = await asked(fixture.newAddress());
  expect((await request.approve()).text).toContain('There is no account for this address yet');
  for (let n = 0; n < 2; n++) {
    const answer = await fixture.redeem(request);
    expect([answer.status, errorOf(answer).code]).toEqual([410, 'signin_unavailable']);
  }
});

test('with open sign-up, the first approval creates the account, and the next finds it', async () => {
  const open = await createPeopleFixture({ FRONTAGE_SIGNUP: 'open' });
  try {
    const accounts: string[] = [];
    for (const account_name of ['The bakery', 'Another name']) {
      const { body } = await open.ask('baker@example.com', { account_name });
      const browser = open.browser();
      const page = await browser.open(await open.linkTo('baker@example.com', 'access-request'));
      await browser.press(page, 'Give access', { code: body.user_code });
      const { access_token } = (await open.redeem(body)).body;
      const account = await callWith(open.url, access_token)('GET', '/v1/account');
      expect(account.body).toMatchObject({ name: 'The bakery', email: 'baker@example.com' });
      accounts.push(account.body.id);
    }
    expect(new Set(accounts).size).toBe(1);
  } finally {
    await open.close();
  }
});

test('an account at its limit of tokens gets none, and the approval stays valid', async () => {
  const { email, accountId } = await fixture.newOwner();
  const em = fixture.deps.em();
  await em.execute(
    `insert into token (id, account_id, name, hash, last_four, created_at)
     select 'tok_' || n, ?, 'many', sha256(n::text::bytea), '0000', ? from generate_series(1, 100) n`,
    [accountId, fixture.clock.now()],
  );
  const request = await asked(email);
  await request.approve();
  expect(await outcome(request)).toBe('plan_limit');
  await em.execute(`update token set revoked_at = ? where id = 'tok_1'`, [fixture.clock.now()]);
  expect(await outcome(request)).toBe('approved');
});
