/** The codes that the e-mails about a change of address show: nothing happens without them. */
import { afterAll, expect, test } from 'vitest';
import { issueToken } from '#api/tokens/rules.ts';
import { type Call, callWith } from '#test/api/fixture.ts';
import { createPeopleFixture } from './fixture.ts';

const fixture = await createPeopleFixture();
afterAll(() => fixture.close());

const change = (call: Call, body: unknown) => call('PATCH', '/v1/account', { body });
const read = async (call: Call) => (await call('GET', '/v1/account')).body;
const confirmOld = (old: string) => fixture.answerMail(old, 'address-change', 'Confirm the change');
const confirmNew = (next: string) => fixture.answerMail(next, 'address-confirmation', 'Use this address');

test('no scanner that opens a link or submits its form does anything', async () => {
  const { call, email } = await fixture.newSignedIn();
  const next = fixture.newAddress();
  const scan = async (address: string, kind: 'address-change' | 'address-confirmation', button: string) => {
    const link = await fixture.linkTo(address, kind);
    for (const method of ['GET', 'HEAD', 'POST', 'PUT'])
      await fixture.browser().go(method, link, method === 'POST' ? { answer: 'confirm' } : undefined);
    const browser = fixture.browser();
    const page = await browser.open(link);
    for (const code of ['', ' '])
      expect((await browser.press(page, button, { code })).text).toContain(
        'No code was typed. Please type it; you have 5 attempts left.',
      );
    for (const code of ['test', 'x'.repeat(20), '********', 'http://x/', '12345678'])
      expect((await browser.press(page, button, { code })).text).toContain(
        'That code is not correct. Please compare it once more; you have 5 attempts left',
      );
  };
  await change(call, { email: next });
  await scan(email, 'address-change', 'Stop the change');
  await scan(email, 'address-change', 'Confirm the change');
  expect((await read(call)).pending.waiting_for).toBe('old');
  await confirmOld(email);
  await scan(next, 'address-confirmation', 'Use this address');
  expect(await read(call)).toMatchObject({ email, pending: { waiting_for: 'new' } });
  await confirmNew(next);
  await scan(email, 'address-change', 'Undo the change');
  expect((await read(call)).email).toBe(next);
});

test('five wrong codes end the link, and a pending change with it', async () => {
  const { call, email } = await fixture.newSignedIn();
  const next = fixture.newAddress();
  const tryFive = async (address: string, kind: 'address-change' | 'address-confirmation', button: string) => {
    const letter = (await fixture.lettersTo(address)).find((one) => one.kind === kind);
    const code = letter?.code === 'BBBBBBBB' ? 'CCCCCCCC' : 'BBBBBBBB';
    const browser = fixture.browser();
    const page = await browser.open(letter?.link ?? '');
    const guess = async () => (await browser.press(page, button, { code })).status;
    for (let tries = 4; tries > 0; tries--) expect(await guess()).toBe(400);
    expect(await Promise.all([guess(), guess(), guess()])).toEqual([410, 410, 410]);
    expect((await browser.press(page, button, { code: letter?.code ?? '' })).status).toBe(410);
  };
  await change(call, { email: next });
  await tryFive(email, 'address-change', 'Confirm the change');
  expect(await read(call)).toMatchObject({ email, pending: null });
  await change(call, { email: next });
  await confirmOld(email);
  await tryFive(next, 'address-confirmation', 'Use this address');
  expect(await read(call)).toMatchObject({ email, pending: null });
  await change(call, { email: next });
  await fixture.confirmChange(email, next);
  await tryFive(email, 'address-change', 'Undo the change');
  expect((await read(call)).email).toBe(next);
  const { items } = (await call('GET', '/v1/account/history')).body;
  const failed = items.filter(({ action }: { action: string }) => action === 'account.address_change_failed');
  const entry = { via: { kind: 'platform', name: null }, detail: { from: email, to: next } };
  expect(failed).toEqual([expect.objectContaining(entry), expect.objectContaining(entry)]);
});

test('of two accounts that want one address, the first to confirm gets it', async () => {
  const [one, two] = [await fixture.newSignedIn(), await fixture.newSignedIn()];
  const next = fixture.newAddress();
  const pages = [];
  for (const { call, email } of [one, two]) {
    await change(call, { email: next });
    await confirmOld(email);
    const [letter] = await fixture.lettersTo(next);
    const browser = fixture.browser();
    const page = await browser.open(letter?.link ?? '');
    pages.push(() => browser.press(page, 'Use this address', { code: letter?.code ?? '' }));
  }
  const answers = await Promise.all(pages.map((press) => press()));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect(answers.find(({ status }) => status === 409)?.text).toContain('This e-mail address is already in use');
  const accounts = await Promise.all([one, two].map(({ call }) => read(call)));
  expect(accounts.filter(({ email }) => email === next)).toHaveLength(1);
  expect(accounts.map(({ pending_email }) => pending_email)).toEqual([null, null]);
});

test('the history lists each step of a change of address', async () => {
  const { call, email, accountId } = await fixture.newSignedIn();
  const next = fixture.newAddress();
  await change(call, { email: next });
  await fixture.answerMail(email, 'address-change', 'Stop the change');
  await change(call, { email: next });
  await fixture.confirmChange(email, next);
  await fixture.answerMail(email, 'address-change', 'Undo the change');
  const { secret } = await issueToken(fixture.deps.em(), fixture.clock, accountId, { name: 'later' });
  const { body } = await callWith(fixture.url, secret)('GET', '/v1/account/history');
  const steps = body.items.filter(({ via }: { via: { kind: string } }) => via.kind === 'person');
  expect(steps.map(({ action }: { action: string }) => action)).toEqual([
    'account.address_change_undone',
    'account.address_changed',
    'account.address_confirmed',
    'account.address_change_stopped',
  ]);
  expect(steps[0].detail).toEqual({ from: email, to: next });
});
