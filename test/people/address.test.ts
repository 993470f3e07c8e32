import { afterAll, expect, test } from 'vitest';
import { issueToken } from '#api/tokens/rules.ts';
import { type Call, callWith, errorOf } from '#test/api/fixture.ts';
import type { Shown } from './browser.ts';
import { createPeopleFixture } from './fixture.ts';

const fixture = await createPeopleFixture();
afterAll(() => fixture.close());
const day = 24 * 3600_000;

async function newCaller() {
  const owner = await fixture.newOwner();
  const { secret } = await issueToken(fixture.deps.em(), fixture.clock, owner.accountId, { name: 'first' });
  return { ...owner, call: callWith(fixture.url, secret) };
}
const change = (call: Call, body: unknown) => call('PATCH', '/v1/account', { body });
const read = async (call: Call) => (await call('GET', '/v1/account')).body;

const hoursUntil = (moment: string) => Math.round((Date.parse(moment) - fixture.clock.now().getTime()) / 3600_000);
const confirmOld = (old: string) => fixture.answerMail(old, 'address-change', 'Confirm the change');
const confirmNew = (next: string) => fixture.answerMail(next, 'address-confirmation', 'Use this address');

test('the name changes at once, and the response lists the changes', async () => {
  const { call } = await newCaller();
  const { status, body } = await change(call, { name: ' The bakery ' });
  expect([status, body.changed, body.pending, body.account.name]).toEqual([200, ['name'], null, 'The bakery']);
  expect(body).not.toHaveProperty('status');
  expect((await read(call)).name).toBe('The bakery');
});

test('the old address confirms a change first, then the new one', async () => {
  const { call, email } = await newCaller();
  const next = fixture.newAddress();
  const { body } = await change(call, { name: 'Renamed', email: next.toUpperCase() });
  const pending = { email: next, waiting_for: 'old', expires_at: expect.any(String) };
  expect(body).toMatchObject({ changed: ['name'], pending, status: 'pending' });
  expect(body.next_action).toMatch(new RegExp(`${email} first.*${next}.*Do not ask for the codes`));
  expect(body.account).toMatchObject({ email, pending_email: next, pending, name: 'Renamed' });
  expect(await fixture.lettersTo(next)).toEqual([]);
  const [first] = await fixture.lettersTo(email);
  expect(first?.text).toMatch(new RegExp(`New address: ${next}\\nAsked by: an agent or program named “first”`));
  expect(hoursUntil(body.pending.expires_at)).toBe(24);
  fixture.skip(day / 2);
  expect((await confirmOld(email)).text).toContain('Now confirm it from the new address');
  const { pending: later } = await read(call);
  expect(later).toMatchObject({ email: next, waiting_for: 'new' });
  expect(hoursUntil(later.expires_at)).toBe(24);
  expect((await fixture.lettersTo(next))[0]?.text).toMatch(
    /Account: Renamed\nAsked by: an agent or program named “first”/,
  );
  expect((await confirmNew(next)).text).toContain('Your e-mail address has changed');
  expect(await read(call)).toMatchObject({ email: next, pending_email: null, pending: null });
  expect((await fixture.lettersTo(email))[0]).toMatchObject({
    subject: 'Your account has a new e-mail address',
    text: expect.stringMatching(new RegExp(`${next}[^]*named “first”[^]*undo it for 72 hours`)),
  });
});

test('an empty change is nothing_to_update', async () => {
  const { call, email } = await newCaller();
  const { name } = await read(call);
  for (const body of [{}, { name }, { email }, { name, email: email.toUpperCase() }]) {
    const answer = await change(call, body);
    expect([answer.status, errorOf(answer).code]).toEqual([400, 'nothing_to_update']);
  }
});

test.each([
  [{ email: 'nobody' }, 'invalid_email'],
  [{ email: 5 }, 'invalid_email'],
  [{ email: null }, 'invalid_email'],
  [{ name: '' }, 'invalid_name'],
  [{ name: ' ' }, 'invalid_name'],
  [{ name: 'x'.repeat(101) }, 'invalid_name'],
  // The name stands in a mail to an address that need not be the caller's.
  [{ name: 'Locked! Go to https://example.com/' }, 'invalid_name'],
  [{ name: 'Shop\n\nYour account is locked.' }, 'invalid_name'],
  [{ name: 'Shop\u202egnp' }, 'invalid_name'],
  [{ email: 'mi\u212ae@example.com' }, 'invalid_email'],
  [{ plan: 'x' }, 'invalid_json'],
])('the change %j is %s', async (body, code) => {
  const { call } = await newCaller();
  const answer = await change(call, body);
  expect([answer.status, errorOf(answer).code]).toEqual([400, code]);
});

test('another account’s address is email_taken at the call', async () => {
  const { call } = await newCaller();
  const other = await fixture.newOwner();
  const answer = await change(call, { name: 'Not this', email: other.email });
  expect([answer.status, errorOf(answer).code]).toEqual([409, 'email_taken']);
  expect((await read(call)).name).not.toBe('Not this');
});

test('trying addresses does not reveal accounts', async () => {
  const strict = await createPeopleFixture({ FRONTAGE_RATE_SCALE: '1' });
  try {
    const { call } = await strict.newCaller();
    const codes = [];
    for (let count = 0; count < 6; count++) {
      const other = await strict.newOwner();
      codes.push(errorOf(await change(call, { email: other.email })).code);
    }
    expect(codes).toEqual([...Array(5).fill('email_taken'), 'rate_limited']);
  } finally {
    await strict.close();
  }
});

test('many accounts together mail one new address no more often than one', async () => {
  const strict = await createPeopleFixture({ FRONTAGE_RATE_SCALE: '1' });
  try {
    const callers = await Promise.all(Array.from({ length: 7 }, () => strict.newCaller()));
    const answers = await Promise.all(callers.map(({ call }) => change(call, { email: 'flooded@example.com' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 429, 429]);
    for (const { call } of callers)
      await strict.answerMail((await read(call)).email, 'address-change', 'Confirm the change');
    expect(await strict.lettersTo('flooded@example.com')).toHaveLength(5);
  } finally {
    await strict.close();
  }
});

test('a later change replaces a pending one, and the present address cancels it', async () => {
  const { call, email } = await newCaller();
  const [first, second] = [fixture.newAddress(), fixture.newAddress()];
  await change(call, { email: first });
  const earlier = await fixture.linkTo(email, 'address-change');
  await change(call, { email: second });
  expect((await fixture.browser().open(earlier)).status).toBe(410);
  expect((await read(call)).pending_email).toBe(second);
  expect((await change(call, { email })).body).toMatchObject({ changed: ['pending_email'], pending: null });
  expect((await confirmOld(email)).status).toBe(410);
  expect(await read(call)).toMatchObject({ email, pending_email: null });
});

test('a person changes the address on the account page, and cancels that', async () => {
  const { browser, call, email } = await fixture.newSignedIn();
  const next = fixture.newAddress();
  const ask = async (to: string) =>
    browser.press(await browser.open('/account/settings'), 'Change my address', { email: to });
  expect(await ask('nobody')).toMatchObject({
    status: 400,
    text: expect.stringContaining('not a valid e-mail address'),
  });
  expect((await ask((await fixture.newOwner()).email)).text).toContain('Another account uses this e-mail address');
  expect((await ask(next)).text).toMatch(
    new RegExp(`<strong>${next}</strong> is waiting for confirmation[^]*sent to ${email}`),
  );
  expect((await fixture.lettersTo(email))[0]?.text).toContain(
    'Asked by: somebody who is signed in on the account page',
  );
  const cancelled = await browser.press(await browser.open('/account/settings'), 'Cancel the change');
  expect(cancelled.text).toContain('Change my address');
  expect((await read(call)).pending).toBe(null);
  await ask(next);
  expect((await fixture.confirmChange(email, next)).status).toBe(200);
  expect((await browser.open('/account')).url).toBe('/signin');
});

test('each link confirms once, and for a day', async () => {
  const { call, email } = await newCaller();
  const next = fixture.newAddress();
  await change(call, { email: next });
  await confirmOld(email);
  expect((await fixture.browser().open(await fixture.linkTo(email, 'address-change'))).text).not.toContain(
    'Confirm the',
  );
  fixture.skip(day);
  expect(await read(call)).toMatchObject({ pending: null, pending_email: null });
  expect([(await confirmNew(next)).status, (await read(call)).email]).toEqual([410, email]);
  await change(call, { email: next });
  const link = await fixture.linkTo(email, 'address-change');
  await fixture.confirmChange(email, next);
  expect((await confirmNew(next)).text).toContain('This link has expired');
  expect((await fixture.browser().open(link)).status).toBe(410);
});

test('mails to the old address are invalid once it has changed', async () => {
  const { call, email } = await newCaller();
  const browser = fixture.browser();
  const link = async () => {
    await browser.press(await browser.open('/signin'), 'Send me a link', { email });
    return fixture.linkTo(email, 'signin-link');
  };
  await browser.press(await browser.open(await link()), 'Sign in');
  const unused = await link();
  const asked = await fixture.ask(email);
  const next = fixture.newAddress();
  await change(call, { email: next });
  await fixture.confirmChange(email, next);
  expect((await browser.open(unused)).status).toBe(410);
  expect((await browser.open('/account')).url).toBe('/signin');
  expect((await browser.open(await fixture.linkTo(email, 'access-request'))).status).toBe(410);
  expect(errorOf(await fixture.redeem(asked.body)).code).toBe('expired');
});

test('an account may request five address changes an hour', async () => {
  const strict = await createPeopleFixture({ FRONTAGE_RATE_SCALE: '1' });
  try {
    const { accountId } = await strict.newOwner();
    const { secret } = await issueToken(strict.deps.em(), strict.clock, accountId, { name: 'first' });
    const call = callWith(strict.url, secret);
    const ask = () => change(call, { email: strict.newAddress() });
    const answers = await Promise.all(Array.from({ length: 8 }, ask));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(3);
  } finally {
    await strict.close();
  }
});

test('concurrent changes, confirmations, sign-ins and approvals of an account do not fail', async () => {
  const { call, email } = await newCaller();
  const browser = fixture.browser();
  for (let round = 0; round < 4; round++) {
    const { email: now } = await read(call);
    const next = round % 2 ? email : fixture.newAddress();
    await change(call, { email: next });
    await confirmOld(now);
    const asked = await fixture.ask(now);
    await browser.press(await browser.open('/signin'), 'Send me a link', { email: now });
    const [request, link] = await Promise.all(
      (['access-request', 'signin-link'] as const).map(async (kind) => browser.open(await fixture.linkTo(now, kind))),
    );
    const answers = await Promise.all([
      confirmNew(next),
      confirmNew(next),
      browser.press(request as Shown, 'Give access', { code: asked.body.user_code }),
      browser.press(link as Shown, 'Sign in'),
      change(call, { email: next }),
    ]);
    await Promise.all([change(call, { email: fixture.newAddress() }), change(call, { name: `Round ${round}` })]);
    expect(answers.map(({ status }) => status).filter((status) => status >= 500)).toEqual([]);
    fixture.skip(3 * day);
  }
}, 60_000);
