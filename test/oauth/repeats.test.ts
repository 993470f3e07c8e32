/** Refresh tokens that are used again: by parallel calls of one client within a minute, or later by somebody else. */
import { afterAll, expect, test } from 'vitest';
import { reconciliationActivities } from '#activities/reconciliation.ts';
import { callWith } from '#test/api/fixture.ts';
import { createOauthFixture } from './fixture.ts';

const fixture = await createOauthFixture();
afterAll(() => fixture.close());
const { exchange, renew, approve, lettersTo } = fixture;
const status = async (token: string) => (await callWith(fixture.url, token)('GET', '/v1/account')).status;

async function newClient() {
  const { browser, email } = await fixture.newSignedIn();
  const held = await approve(browser);
  const { body } = await exchange(held);
  const endings = async () => (await lettersTo(email)).filter(({ kind }) => kind === 'access-ended');
  return { ...held, ...body, browser, email, endings };
}

test('a refresh token repeated within 60 s returns the same successor', async () => {
  const { clientId, refresh_token } = await newClient();
  const first = await renew(clientId, refresh_token);
  fixture.skip(59_000);
  const second = await renew(clientId, refresh_token);
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(second.body).toEqual({ ...first.body, expires_in: expect.any(Number) });
  expect([3540, 3541]).toContain(second.body.expires_in);
  expect(await status(second.body.access_token)).toBe(200);
  // The successor has not been used up by the repetition.
  expect((await renew(clientId, second.body.refresh_token)).status).toBe(200);
});

test('parallel refreshes through two processes return one successor', async () => {
  const second = await fixture.start();
  const { clientId, refresh_token } = await newClient();
  const at = async (url: string) => {
    const body = new URLSearchParams({ grant_type: 'refresh_token', client_id: clientId, refresh_token });
    const answer = await fetch(`${url}/oauth/token`, { method: 'POST', body });
    return [answer.status, ((await answer.json()) as Record<string, string>).refresh_token];
  };
  const urls = Array.from({ length: 8 }, (_, n) => (n % 2 ? fixture.url : second.url));
  const answers = await Promise.all(urls.map(at));
  expect(answers.map(([code]) => code)).toEqual(urls.map(() => 200));
  expect(new Set(answers.map(([, token]) => token)).size).toBe(1);
});

test('a later reuse ends the access; error and e-mail say why', async () => {
  const { clientId, refresh_token, endings } = await newClient();
  const { body } = await renew(clientId, refresh_token);
  fixture.skip(60_001);
  const reused = await renew(clientId, refresh_token);
  expect([reused.status, reused.body.error]).toEqual([400, 'invalid_grant']);
  expect(reused.body.error_description).toContain('used again more than 60 seconds');
  expect(await status(body.access_token)).toBe(401);
  const next = await renew(clientId, body.refresh_token);
  expect(next.body.error_description).toBe(reused.body.error_description);
  await renew(clientId, refresh_token);
  const letters = await endings();
  expect(letters).toHaveLength(1);
  expect(letters[0]?.text).toContain('Chat');
  expect(letters[0]?.text).toContain('more than a minute after');
});

test('a code used twice ends the access; error and e-mail say why', async () => {
  const held = await newClient();
  const reused = await exchange(held);
  expect(reused.body.error_description).toContain('code has already been used');
  expect((await renew(held.clientId, held.refresh_token)).body.error_description).toContain('code was used twice');
  const letters = await held.endings();
  expect(letters).toHaveLength(1);
  expect(letters[0]?.text).toContain('code');
});

test('an end by owner or client is named as such, without an e-mail', async () => {
  const disconnected = await newClient();
  const [row] = (await callWith(fixture.url, disconnected.access_token)('GET', '/v1/tokens')).body.items;
  const page = await disconnected.browser.open(`/account/agents/${row.id}/revoke`);
  await disconnected.browser.press(page, 'Revoke its access');
  const byOwner = (await renew(disconnected.clientId, disconnected.refresh_token)).body;
  expect(byOwner.error_description).toBe('The owner has revoked this access.');

  const signedOut = await newClient();
  const { body: renewed } = await renew(signedOut.clientId, signedOut.refresh_token);
  const revoked = await fetch(`${fixture.url}/oauth/revoke`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: signedOut.clientId, token: renewed.refresh_token }),
  });
  expect(revoked.status).toBe(200);
  const byClient = (await renew(signedOut.clientId, signedOut.refresh_token)).body;
  expect(byClient.error_description).toBe('The client has revoked this access.');
  expect([await disconnected.endings(), await signedOut.endings()]).toEqual([[], []]);
});

test('a successor is encrypted in its row, and erased after a minute', async () => {
  const { clientId, refresh_token } = await newClient();
  const { body } = await renew(clientId, refresh_token);
  const rows = async () =>
    fixture.deps
      .em()
      .execute<{ successor: Buffer }[]>('select successor from oauth_refresh where successor is not null');
  const kept = Buffer.concat((await rows()).map(({ successor }) => successor)).toString('latin1');
  expect(kept).not.toBe('');
  for (const secret of [body.refresh_token, body.access_token]) expect(kept).not.toContain(secret);
  fixture.skip(61_000);
  await reconciliationActivities(fixture.deps).sweepRows();
  expect(await rows()).toEqual([]);
});
