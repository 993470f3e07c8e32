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

async function confirm(email: string) {
  const browser = fixture.browser();
  return browser.press(await browser.open(await fixture.linkTo(email, 'address-confirmation')), 'Use this address');
}

test('the name changes at once, and the response lists the changes', async () => {
  const { call } = await newCaller();
  const { status, body } = await change(call, { name: ' The bakery ' });
  expect([status, body.changed, body.pending, body.account.name]).toEqual([200, ['name'], null, 'The bakery']);
  expect(body).not.toHaveProperty('status');
  expect((await read(call)).name).toBe('The bakery');
});

test('a new address needs confirmation, and the old one is notified twice', async () => {
  const { call, email } = await newCaller();
  const next = fixture.newAddress();
  const { body } = await change(call, { name: 'Renamed', email: next.toUpperCase() });
  expect(body).toMatchObject({ changed: ['name'], pending: { email: next }, status: 'pending' });
  expect(body.next_action).toContain(next);
  expect(body.account).toMatchObject({ email, pending_email: next, name: 'Renamed' });
  const [notice] = await fixture.lettersTo(email);
  expect([notice?.kind, notice?.text, notice?.link]).toEqual(['address-change', expect.stringContaining(next), '']);
  expect(await read(call)).toMatchObject({ email, pending_email: next });
  expect((await confirm(next)).text).toContain('Your e-mail address has changed');
  expect(await read(call)).toMatchObject({ email: next, pending_email: null });
  expect((await fixture.lettersTo(email))[0]?.subject).toBe('Your account has a new e-mail address');
});

test('no scanner that opens the link confirms the address', async () => {
  const { call, email } = await newCaller();
  const next = fixture.newAddress();
  await change(call, { email: next });
  const link = await fixture.linkTo(next, 'address-confirmation');
  for (const method of ['GET', 'HEAD', 'POST', 'PUT'])
    await fixture.browser().go(method, link, method === 'POST' ? {} : undefined);
  expect(await read(call)).toMatchObject({ email, pending_email: next });
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
    expect(await strict.lettersTo('flooded@example.com')).toHaveLength(5);
  } finally {
    await strict.close();
  }
});

test('of two accounts that want one address, the first to confirm gets it', async () => {
  const [one, two] = [await newCaller(), await newCaller()];
  const next = fixture.newAddress();
  await change(one.call, { email: next });
  const first = await fixture.linkTo(next, 'address-confirmation');
  await change(two.call, { email: next });
  const second = await fixture.linkTo(next, 'address-confirmation');
  const answers = await Promise.all(
    [first, second].map(async (link) => {
      const browser = fixture.browser();
      return browser.press(await browser.open(link), 'Use this address');
    }),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect(answers.find(({ status }) => status === 409)?.text).toContain('This e-mail address is already in use');
  const accounts = await Promise.all([one, two].map(({ call }) => read(call)));
  expect(accounts.filter(({ email }) => email === next)).toHaveLength(1);
  expect(accounts.map(({ pending_email }) => pending_email)).toEqual([null, null]);
});

test('a later change replaces a pending one, and the present address cancels it', async () => {
  const { call, email } = await newCaller();
  const [first, second] = [fixture.newAddress(), fixture.newAddress()];
  await change(call, { email: first });
  await change(call, { email: second });
  expect((await fixture.browser().open(await fixture.linkTo(first, 'address-confirmation'))).status).toBe(410);
  expect((await read(call)).pending_email).toBe(second);
  expect((await change(call, { email })).body).toMatchObject({ changed: ['pending_email'], pending: null });
  expect((await fixture.browser().open(await fixture.linkTo(second, 'address-confirmation'))).status).toBe(410);
  expect(await read(call)).toMatchObject({ email, pending_email: null });
});

test('a link confirms once, and for a day', async () => {
  const { call, email } = await newCaller();
  const [first, second] = [fixture.newAddress(), fixture.newAddress()];
  await change(call, { email: first });
  await confirm(first);
  const browser = fixture.browser();
  expect((await browser.open(await fixture.linkTo(first, 'address-confirmation'))).text).toContain(
    'This link has expired',
  );
  await change(call, { email: second });
  const page = await browser.open(await fixture.linkTo(second, 'address-confirmation'));
  fixture.skip(day);
  expect((await read(call)).pending_email).toBe(null);
  expect((await browser.press(page, 'Use this address')).status).toBe(410);
  expect((await read(call)).email).toBe(first);
  expect(first).not.toBe(email);
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
  await confirm(next);
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
    const asked = await fixture.ask(now);
    await browser.press(await browser.open('/signin'), 'Send me a link', { email: now });
    const pages = await Promise.all(
      (['address-confirmation', 'access-request', 'signin-link'] as const).map(async (kind) =>
        browser.open(await fixture.linkTo(kind === 'address-confirmation' ? next : now, kind)),
      ),
    );
    const [confirmation, request, link] = pages as [Shown, Shown, Shown];
    const answers = await Promise.all([
      browser.press(confirmation, 'Use this address'),
      browser.press(confirmation, 'Use this address'),
      browser.press(request, 'Give access', { code: asked.body.user_code }),
      browser.press(link, 'Sign in'),
    ]);
    await Promise.all([change(call, { email: fixture.newAddress() }), change(call, { name: `Round ${round}` })]);
    expect(answers.map(({ status }) => status).filter((status) => status >= 500)).toEqual([]);
    expect((await read(call)).email).toBe(next);
  }
}, 60_000);
