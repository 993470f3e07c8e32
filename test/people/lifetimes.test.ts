/** What a token makes does not outlive it. */
import { afterAll, expect, test } from 'vitest';
import { issueToken } from '#api/tokens/rules.ts';
import { everything } from '#rules/scopes.ts';
import { callWith, createSite, errorOf } from '#test/api/fixture.ts';
import { createOauthFixture } from '#test/oauth/fixture.ts';

const fixture = await createOauthFixture();
afterAll(() => fixture.close());

const day = 86_400_000;
const later = (ms: number) => new Date(fixture.clock.now().getTime() + ms);

async function newHolder(ms: number) {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const expiresAt = later(ms);
  const { secret } = await issueToken(fixture.deps.em(), fixture.clock, owner.accountId, { name: 'short', expiresAt });
  return { owner, site, expiresAt: expiresAt.toISOString(), call: callWith(fixture.url, secret) };
}

test('a token made by an expiring one expires with it, or earlier', async () => {
  const { owner, call, expiresAt } = await newHolder(day);
  const make = (expires_at?: string) =>
    call('POST', '/v1/tokens', { body: { name: 'made', expires_at, scope: everything } });
  expect((await make()).body.expires_at).toBe(expiresAt);
  expect((await make(expiresAt)).body.expires_at).toBe(expiresAt);
  expect((await make(later(60_000).toISOString())).status).toBe(200);
  const refused = await make(later(day + 60_000).toISOString());
  expect([refused.status, errorOf(refused).code]).toEqual([400, 'invalid_expiry']);
  expect(errorOf(refused).message).toContain(expiresAt);
  const whole = await owner.call('POST', '/v1/tokens', { body: { name: 'made' } });
  expect(whole.body.expires_at).toBeNull();
  // The heir of an heir ends with the first.
  const heir = callWith(fixture.url, (await make()).body.access_token);
  expect((await heir('POST', '/v1/tokens', { body: { name: 'heir' } })).body.expires_at).toBe(expiresAt);
});

test.each([
  ['git credentials', 'git-credentials', { repository: 'source', access: 'read' }],
  ['upload links', 'uploads', {}],
  ['review links', 'review-links', {}],
])('%s made by an expiring token expire with it, or earlier', async (_what, path, input) => {
  const { call, owner, site, expiresAt } = await newHolder(3600_000);
  const make = (more: object = {}, by = call) =>
    by('POST', `/v1/sites/${site.id}/${path}`, { body: { ...input, ...more } });
  expect((await make()).body.expires_at).toBe(expiresAt);
  expect((await make({ expires_in_seconds: 60 })).status).toBe(200);
  const refused = await make({ expires_in_seconds: 3700 });
  expect([refused.status, errorOf(refused).code]).toEqual([400, 'invalid_expiry']);
  const usual = Date.parse((await make({}, owner.call)).body.expires_at) - fixture.clock.now().getTime();
  expect(usual).toBeGreaterThan(day - 60_000);
});

test('an OAuth client’s tokens last as long as it can renew its access', async () => {
  const { browser } = await fixture.newSignedIn();
  const held = await fixture.approve(browser, {}, {}, { account: 'yes' });
  const { access_token } = (await fixture.exchange(held)).body;
  const { body } = await callWith(fixture.url, access_token)('POST', '/v1/tokens', { body: { name: 'made' } });
  const days = (Date.parse(body.expires_at) - fixture.clock.now().getTime()) / day;
  expect([days > 28.9, days <= 29]).toEqual([true, true]);
});
