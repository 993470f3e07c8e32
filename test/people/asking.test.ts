import { afterAll, expect, test } from 'vitest';
import { errorOf } from '#test/api/fixture.ts';
import { createPeopleFixture } from './fixture.ts';

const fixture = await createPeopleFixture();
afterAll(() => fixture.close());

test.each([
  ['no address', {}, 'invalid_email'],
  ['an invalid address', { email: 'owner' }, 'invalid_email'],
  ['an address with a name', { email: 'Owner <owner@example.com>' }, 'invalid_email'],
  ['two addresses', { email: 'a@example.com, b@example.com' }, 'invalid_email'],
  ['an address with a line end', { email: 'a@example.com\nbcc: b@example.com' }, 'invalid_email'],
  ['no name', { email: 'a@example.com', agent_name: undefined }, 'invalid_name'],
  ['an empty name', { email: 'a@example.com', agent_name: ' ' }, 'invalid_name'],
  ['a name of two lines', { email: 'a@example.com', agent_name: 'a\nb' }, 'invalid_name'],
  ['a name with a direction override', { email: 'a@example.com', agent_name: 'a\u202eb' }, 'invalid_name'],
  ['a name with a web address', { email: 'a@example.com', agent_name: 'see https://evil.example' }, 'invalid_name'],
  ['an account name of two lines', { email: 'a@example.com', account_name: 'a\u2028b' }, 'invalid_name'],
  ['an unknown field', { email: 'a@example.com', code: 1 }, 'invalid_json'],
])('a request with %s is refused', async (_what, body, code) => {
  const answer = await fixture.anyone('POST', '/v1/auth/requests', { body: { agent_name: 'Claude', ...body } });
  expect([answer.status, errorOf(answer).code]).toEqual([400, code]);
});

test('spellings of one address count as one', async () => {
  const { email } = await fixture.newOwner();
  await fixture.ask(email);
  expect((await fixture.ask(` ${email.toUpperCase()} `)).status).toBe(200);
  expect(await fixture.lettersTo(email)).toHaveLength(2);
});

test('without email sign-in both calls and all pages answer auth_disabled', async () => {
  for (const env of [{ FRONTAGE_EMAIL_SIGNIN: 'off' }, { FRONTAGE_SMTP_URL: '' }]) {
    const off = await createPeopleFixture(env);
    try {
      for (const path of ['/v1/auth/requests', '/v1/auth/requests/x/redeem']) {
        const answer = await off.anyone('POST', path, { raw: '{' });
        expect([answer.status, errorOf(answer).code]).toEqual([503, 'auth_disabled']);
      }
      expect((await off.browser().open('/signin')).status).toBe(503);
    } finally {
      await off.close();
    }
  }
});
