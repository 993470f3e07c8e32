/** E-mails to owners about agents and apps that got access. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chooseMails } from '#db/accounts/mail-choices.ts';
import { usualScope } from '#rules/scopes.ts';
import { callWith, createSite } from '#test/api/fixture.ts';
import { createOauthFixture, type OauthFixture } from '#test/oauth/fixture.ts';
import { until } from '#test/stack/until.ts';
import { createMailFixture, type MailFixture } from './fixture.ts';

let sending: MailFixture;
let fixture: OauthFixture;
let strict: OauthFixture;
beforeAll(async () => {
  sending = await createMailFixture();
  fixture = await createOauthFixture();
  strict = await createOauthFixture({ FRONTAGE_RATE_SCALE: '1' });
}, 60_000);
afterAll(async () => {
  await sending?.close();
  await fixture?.close();
  await strict?.close();
});

const subject = 'An agent has access to your account';
const admitted = async ({ lettersTo }: OauthFixture, email: string) =>
  (await lettersTo(email)).filter(({ kind }) => kind === 'agent-admitted');

test('the owner receives what a new token may do, and when it ends', async () => {
  const caller = await sending.newCaller();
  const site = await createSite(caller, { template: 'blank' });
  const { email } = (await caller.call('GET', '/v1/account')).body;
  const scope = { ...usualScope, sites: [site.id], access: 'read' };
  const body = { name: 'Helper <1>', scope, expires_at: '2027-03-03T10:00:00Z' };
  expect((await caller.call('POST', '/v1/tokens', { body })).status).toBe(200);
  const [mail] = await until(
    () => sending.mailsTo(email),
    ({ length }) => length > 0,
  );
  expect(mail?.subject).toBe(subject);
  expect(mail?.html).toContain('Helper &#60;1&#62;');
  const { baseUrl } = sending.config;
  for (const line of [
    'Agent: Helper <1>',
    'Access: one website · may only read',
    `Websites: ${site.name}.sites.localhost`,
    'Given by: first',
    'Ends: 3 March 2027, or when you end it',
    `See or end its access:\n${baseUrl}/account/agents`,
    `Choose which e-mails you get: ${baseUrl}/account/mails`,
  ])
    expect(mail?.text).toContain(`${line}\n`);
});

test('an approved request is mailed when its agent gets the token, once', async () => {
  const owner = await fixture.newSignedIn();
  const { body: asked } = await fixture.ask(owner.email, { agent_name: 'Tinker' });
  const page = await owner.browser.open('/account');
  await owner.browser.press(page, 'Give access', { code: asked.user_code });
  expect(await admitted(fixture, owner.email)).toEqual([]);
  for (const status of [200, 410]) expect((await fixture.redeem(asked)).status).toBe(status);
  const [mail, ...more] = await admitted(fixture, owner.email);
  expect(more).toEqual([]);
  for (const line of ['Agent: Tinker', 'Access: all websites · may change them', 'Given by: you, in a browser'])
    expect(mail?.text).toContain(`${line}\n`);
  expect([mail?.subject, mail?.link]).toEqual([subject, '/account/agents']);
  expect(mail?.text).toContain('If you did this, there is nothing more to do.');
});

test('an app is mailed when it is connected, not when it renews its access', async () => {
  const owner = await fixture.newSignedIn();
  expect(await admitted(fixture, owner.email)).toEqual([]);
  const held = await fixture.approve(owner.browser, { client_name: 'Chat' });
  const { body } = await fixture.exchange(held);
  expect((await fixture.renew(held.clientId, body.refresh_token)).status).toBe(200);
  const mails = await admitted(fixture, owner.email);
  expect(mails.map(({ text }) => text.match(/^(Agent|Ends): .*/gm))).toEqual([
    ['Agent: Chat', 'Ends: when you end it'],
  ]);
});

test('an agent that makes many tokens sends its owner ten e-mails an hour', async () => {
  const owner = await strict.newOwner();
  const { body: asked } = await strict.ask(owner.email);
  const browser = strict.browser();
  const page = await strict.signIn(browser, owner.email);
  await browser.press(page, 'Give access', { code: asked.user_code, account: 'yes' });
  const { access_token } = (await strict.redeem(asked)).body;
  const call = callWith(strict.url, access_token);
  const make = async () => (await call('POST', '/v1/tokens', { body: { name: 'More' } })).status;
  for (let n = 0; n < 11; n++) expect(await make()).toBe(200);
  const mails = await admitted(strict, owner.email);
  const last = mails.filter(({ text }) => text.includes('We send no more e-mails about it'));
  expect([mails.length, last.length]).toEqual([10, 1]);
  strict.skip(3600_000);
  expect(await make()).toBe(200);
  expect(await admitted(strict, owner.email)).toHaveLength(11);
});

test('an owner who wants no mails about agents gets none', async () => {
  const owner = await fixture.newSignedIn();
  await chooseMails(fixture.deps.em(), fixture.clock, owner, []);
  const { body } = await fixture.exchange(await fixture.approve(owner.browser));
  expect(body.access_token).toMatch(/^fro_/);
  expect(await admitted(fixture, owner.email)).toEqual([]);
});
