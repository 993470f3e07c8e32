import { afterAll, expect, test } from 'vitest';
import { reconciliationActivities } from '#activities/reconciliation.ts';
import { issueToken } from '#api/tokens/rules.ts';
import { callWith } from '#test/api/fixture.ts';
import { createOauthFixture, pkce } from './fixture.ts';

const fixture = await createOauthFixture();
afterAll(() => fixture.close());
const { exchange, renew, approve, register } = fixture;
const status = async (token: string) => (await callWith(fixture.url, token)('GET', '/v1/account')).status;

test('a code works once, and a second use revokes its tokens', async () => {
  const { browser } = await fixture.newSignedIn();
  const held = await approve(browser);
  const { body } = await exchange(held);
  expect(await status(body.access_token)).toBe(200);
  expect((await exchange(held)).body.error).toBe('invalid_grant');
  expect(await status(body.access_token)).toBe(401);
  expect((await renew(held.clientId, body.refresh_token)).body.error).toBe('invalid_grant');
});

test('of concurrent calls with one code at most one succeeds', async () => {
  const { browser } = await fixture.newSignedIn();
  const held = await approve(browser);
  const told = await Promise.all(Array.from({ length: 6 }, () => exchange(held)));
  expect(told.filter(({ status: one }) => one === 200)).toHaveLength(1);
  expect(told.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(5);
});

test('a code needs its verifier, and a wrong one ends it', async () => {
  const { browser } = await fixture.newSignedIn();
  const held = await approve(browser);
  const wrong = await exchange({ ...held, verifier: pkce().verifier });
  expect([wrong.status, wrong.body.error, wrong.headers.get('cache-control')]).toEqual([
    400,
    'invalid_grant',
    'no-store',
  ]);
  expect((await exchange(held)).body.error).toBe('invalid_grant');
  const other = await approve(browser);
  expect((await exchange({ ...other, verifier: '' })).body.error).toBe('invalid_request');
  expect((await exchange({ ...other, verifier: 'short' })).body.error).toBe('invalid_grant');
});

test('a code is bound to client, address and resource, for one minute', async () => {
  const { browser } = await fixture.newSignedIn();
  const other = (await register({ client_name: 'Other' })).body.client_id;
  const held = await approve(browser);
  expect((await exchange({ ...held, clientId: other })).body.error).toBe('invalid_grant');
  expect((await exchange(held, { resource: 'https://elsewhere.example/mcp' })).body.error).toBe('invalid_target');
  // It was not this client's to spoil.
  expect((await exchange(held)).status).toBe(200);
  const second = await approve(browser);
  expect((await exchange(second, { redirect_uri: 'https://evil.example/' })).body.error).toBe('invalid_grant');
  const late = await approve(browser);
  fixture.skip(61_000);
  expect((await exchange(late)).body.error).toBe('invalid_grant');
});

test('a refresh token works once, and a use a minute later ends the access', async () => {
  const { browser } = await fixture.newSignedIn();
  const held = await approve(browser);
  const first = (await exchange(held)).body;
  const second = (await renew(held.clientId, first.refresh_token)).body;
  expect([await status(first.access_token), await status(second.access_token)]).toEqual([401, 200]);
  fixture.skip(61_000);
  expect((await renew(held.clientId, first.refresh_token)).body.error).toBe('invalid_grant');
  expect(await status(second.access_token)).toBe(401);
  expect((await renew(held.clientId, second.refresh_token)).body.error).toBe('invalid_grant');
});

test('concurrent refreshes return one successor, to its own client only', async () => {
  const { browser } = await fixture.newSignedIn();
  const held = await approve(browser);
  const { body } = await exchange(held);
  const other = (await register({ client_name: 'Other' })).body.client_id;
  expect((await renew(other, body.refresh_token)).body.error).toBe('invalid_grant');
  expect((await renew(held.clientId, body.access_token)).body.error).toBe('invalid_grant');
  expect((await renew(held.clientId, body.refresh_token, { resource: 'https://x.example' })).body.error).toBe(
    'invalid_target',
  );
  expect(await status(body.access_token)).toBe(200);
  const told = await Promise.all(Array.from({ length: 4 }, () => renew(held.clientId, body.refresh_token)));
  expect(told.map((one) => one.status)).toEqual([200, 200, 200, 200]);
  expect(new Set(told.map((one) => one.body.access_token)).size).toBe(1);
  expect(await status(told[0]?.body.access_token)).toBe(200);
  expect((await renew(other, body.refresh_token)).body.error).toBe('invalid_grant');
});

test('two processes agree: one code, one refresh token, one answer', async () => {
  const second = await fixture.start();
  const { browser } = await fixture.newSignedIn();
  const held = await approve(browser);
  const at = async (url: string, fields: Record<string, string>) => {
    const answer = await fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(fields) });
    return { status: answer.status, body: (await answer.json()) as Record<string, string> };
  };
  const { clientId: client_id, code, verifier: code_verifier } = held;
  const codes = await Promise.all(
    [fixture.url, second.url, fixture.url, second.url].map((url) =>
      at(url, { grant_type: 'authorization_code', client_id, code, code_verifier }),
    ),
  );
  expect(codes.map((one) => one.status).sort()).toEqual([200, 400, 400, 400]);
  const other = await approve(browser);
  const { body } = await exchange(other);
  const renewals = await Promise.all(
    [fixture.url, second.url, fixture.url, second.url, fixture.url].map((url) =>
      at(url, { grant_type: 'refresh_token', client_id: other.clientId, refresh_token: body.refresh_token }),
    ),
  );
  expect(renewals.map((one) => one.status).sort()).toEqual([200, 200, 200, 200, 200]);
  expect(new Set(renewals.map((one) => one.body.refresh_token)).size).toBe(1);
  // A refresh against its own revocation: whichever comes first, in the end nobody is in.
  const third = await approve(browser);
  const { body: last } = await exchange(third);
  const revoked = { client_id: third.clientId, token: last.refresh_token };
  const [renewed] = await Promise.all([
    at(fixture.url, { grant_type: 'refresh_token', client_id: third.clientId, refresh_token: last.refresh_token }),
    fetch(`${second.url}/oauth/revoke`, { method: 'POST', body: new URLSearchParams(revoked) }),
  ]);
  expect(await status(last.access_token)).toBe(401);
  if (renewed.status === 200) expect(await status(renewed.body.access_token ?? '')).toBe(401);
  else expect([renewed.status, renewed.body.error]).toEqual([400, 'invalid_grant']);
});

test('a refresh token unused for a month expires, and expired rows are deleted', async () => {
  const { browser } = await fixture.newSignedIn();
  const held = await approve(browser);
  const { body } = await exchange(held);
  fixture.skip(29 * 24 * 3600_000 + 1000);
  expect((await renew(held.clientId, body.refresh_token)).body.error).toBe('invalid_grant');
});

test('an account at its limit of tokens accepts no client, with the reason', async () => {
  const full = await createOauthFixture();
  try {
    const { browser, accountId } = await full.newSignedIn();
    await full.deps.em().execute(
      `insert into token (id, account_id, name, hash, last_four, created_at)
       select 'tok_' || n, ?, 'T', sha256(n::text::bytea), 'xxxx', ? from generate_series(1, 100) n`,
      [accountId, full.clock.now()],
    );
    const { status: told, body } = await full.exchange(await full.approve(browser));
    expect([told, body.error, body.error_description]).toEqual([
      400,
      'access_denied',
      expect.stringContaining('a limit of 100 tokens'),
    ]);
  } finally {
    await full.close();
  }
});

test('a client keeps its place between access tokens, and can still refresh', async () => {
  const full = await createOauthFixture();
  try {
    const { browser, accountId } = await full.newSignedIn();
    const fill = (from: number, to: number) =>
      full.deps.em().execute(
        `insert into token (id, account_id, name, hash, last_four, created_at)
         select 'tok_' || n, ?, 'T', sha256(n::text::bytea), 'xxxx', ? from generate_series(?::int, ?::int) n`,
        [accountId, full.clock.now(), from, to],
      );
    const held = await full.approve(browser);
    const { body } = await full.exchange(held);
    const { secret } = await issueToken(full.deps.em(), full.clock, accountId, { name: 'first' });
    const call = callWith(full.url, secret);
    await fill(1, 97);
    // Its hour is over, its place is not: one more fits, and no other.
    full.skip(3601_000);
    const used = async () => (await call('GET', '/v1/account')).body.limits.tokens.used;
    expect(await used()).toBe(99);
    expect((await call('POST', '/v1/tokens', { body: { name: 'last' } })).status).toBe(200);
    expect((await call('POST', '/v1/tokens', { body: { name: 'more' } })).body.error.code).toBe('plan_limit');
    const renewed = await full.renew(held.clientId, body.refresh_token);
    expect([renewed.status, await used()]).toEqual([200, 100]);
    // Who never comes again frees it.
    full.skip(29 * 24 * 3600_000 + 1000);
    expect(await used()).toBe(99);
    expect((await call('POST', '/v1/tokens', { body: { name: 'more' } })).status).toBe(200);
    expect((await full.renew(held.clientId, renewed.body.refresh_token)).body.error).toBe('invalid_grant');
  } finally {
    await full.close();
  }
});

test('no secret is in a row or a log', async () => {
  const { browser } = await fixture.newSignedIn();
  const held = await approve(browser);
  const { body } = await exchange(held);
  const again = (await renew(held.clientId, body.refresh_token)).body;
  const rows: unknown[] = [];
  for (const table of [
    'oauth_code',
    'oauth_grant',
    'oauth_refresh',
    'token',
    'signin_link',
    'idempotency_key',
    'outbox',
  ]) {
    rows.push(await fixture.deps.em().execute(`select row_to_json(t)::text as row from ${table} t`));
  }
  const written = JSON.stringify([rows, fixture.logged]);
  for (const secret of [
    held.code,
    held.verifier,
    body.access_token,
    body.refresh_token,
    again.access_token,
    again.refresh_token,
  ]) {
    expect(secret.length).toBeGreaterThan(40);
    expect(written).not.toContain(secret);
    expect(written).not.toContain(Buffer.from(secret).toString('hex'));
  }
});

test('expired codes, refresh tokens and grants are deleted', async () => {
  const own = await createOauthFixture();
  try {
    const { browser } = await own.newSignedIn();
    const held = await own.approve(browser);
    const { body } = await own.exchange(held);
    await own.renew(held.clientId, body.refresh_token);
    const sweep = () => reconciliationActivities(own.deps).sweepRows();
    const counts = async () => {
      const of = async (table: string) =>
        Number((await own.deps.em().execute(`select count(*) as n from ${table}`))[0]?.n);
      return [await of('oauth_code'), await of('oauth_refresh'), await of('oauth_grant'), await of('token')];
    };
    await sweep();
    expect(await counts()).toEqual([1, 2, 1, 1]);
    own.skip(25 * 3600_000);
    await sweep();
    expect(await counts()).toEqual([0, 2, 1, 1]);
    own.skip(28 * 24 * 3600_000);
    await sweep();
    expect(await counts()).toEqual([0, 0, 1, 1]);
    own.skip(3 * 24 * 3600_000);
    await sweep();
    expect(await counts()).toEqual([0, 0, 0, 0]);
  } finally {
    await own.close();
  }
});
