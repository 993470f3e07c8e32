import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { afterAll, expect, test } from 'vitest';
import { callWith } from '#test/api/fixture.ts';
import { agentOf } from '#test/mcp/fixture.ts';
import { callback, createOauthFixture, pkce } from './fixture.ts';

const fixture = await createOauthFixture();
afterAll(() => fixture.close());

/** The SDK asks the addresses that the metadata names; the tests' API listens elsewhere. */
const here = (url: string | URL, init?: RequestInit) =>
  fetch(String(url).replace(fixture.config.baseUrl, fixture.url), init);

/** A connector as the SDK makes it; what its user's browser is sent to is kept. */
function newConnector() {
  const held: { client?: OAuthClientInformationMixed; tokens?: OAuthTokens; verifier?: string; sentTo?: URL } = {};
  const provider: OAuthClientProvider = {
    redirectUrl: callback,
    clientMetadata: {
      client_name: 'SDK connector',
      redirect_uris: [callback],
      token_endpoint_auth_method: 'client_secret_post',
    },
    state: () => 'state-of-the-sdk',
    clientInformation: () => held.client,
    saveClientInformation: (client) => {
      held.client = client;
    },
    tokens: () => held.tokens,
    saveTokens: (tokens) => {
      held.tokens = tokens;
    },
    redirectToAuthorization: (url) => {
      held.sentTo = url;
    },
    saveCodeVerifier: (verifier) => {
      held.verifier = verifier;
    },
    codeVerifier: () => held.verifier ?? '',
  };
  const transport = () =>
    new StreamableHTTPClientTransport(new URL(`${fixture.config.baseUrl}/mcp`), {
      authProvider: provider,
      fetch: here,
    });
  return { held, transport };
}

async function connected(transport: StreamableHTTPClientTransport): Promise<Client> {
  const client = new Client({ name: 'connector', version: '1' });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return client;
}

test('the SDK’s client connects from the bare address, and refreshes its token', async () => {
  const { held, transport } = newConnector();
  const first = transport();
  await expect(connected(first)).rejects.toThrow(/Unauthorized/i);
  expect(held.sentTo?.origin).toBe(fixture.config.baseUrl);
  expect(held.sentTo?.searchParams.get('resource')).toBe(fixture.resource);

  const { email } = await fixture.newOwner();
  const browser = fixture.browser();
  const asked = await browser.open(`${held.sentTo?.pathname}${held.sentTo?.search}`);
  expect([asked.url, asked.text]).toEqual([
    '/signin?for=client',
    expect.stringContaining('An app is requesting access to your websites'),
  ]);
  const shown = await fixture.signIn(browser, email, asked);
  expect(shown.text).toContain('Give SDK connector access to your websites?');
  expect(shown.text).toContain(email);
  const location = fixture.locationOf(await browser.press(shown, 'Give access'));
  expect(`${location.origin}${location.pathname}`).toBe(callback);
  expect(location.searchParams.get('state')).toBe('state-of-the-sdk');
  expect(location.searchParams.get('iss')).toBe(fixture.config.baseUrl);

  await first.finishAuth(location.searchParams.get('code') ?? '');
  expect(held.tokens).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'sites:read sites:write' });
  const client = await connected(transport());
  expect((await agentOf(client).call('account_read')).body).toMatchObject({ email });

  const before = held.tokens?.access_token;
  fixture.skip(3601_000);
  expect((await agentOf(client).call('account_read')).body).toMatchObject({ email });
  expect(held.tokens?.access_token).not.toBe(before);
  await client.close();
});

test('the owner’s list has one token for each client, and revoking it ends access', async () => {
  const { browser, email } = await fixture.newSignedIn();
  const held = await fixture.approve(browser, { client_name: 'Chat of Ada' });
  const { body } = await fixture.exchange(held);
  const call = callWith(fixture.url, body.access_token);
  const list = (await call('GET', '/v1/tokens')).body.items;
  expect(list).toMatchObject([{ name: 'Chat of Ada', current: true, last_four: body.access_token.slice(-4) }]);
  const again = await fixture.renew(held.clientId, body.refresh_token);
  expect((await call('GET', '/v1/account')).status).toBe(401);
  const renewed = callWith(fixture.url, again.body.access_token);
  expect((await renewed('GET', '/v1/tokens')).body.items.map(({ id }: { id: string }) => id)).toEqual([list[0].id]);
  // Between two access tokens it still stands on the owner's page, with the button that ends it.
  fixture.skip(3601_000);
  expect((await renewed('GET', '/v1/account')).status).toBe(401);
  const page = await browser.open('/account/agents');
  expect([page.url, page.text]).toEqual(['/account/agents', expect.stringContaining('Chat of Ada')]);
  await browser.press(await browser.open(`/account/agents/${list[0].id}/revoke`), 'Revoke its access');
  const refused = await fixture.renew(held.clientId, again.body.refresh_token);
  expect([refused.status, refused.body.error]).toEqual([400, 'invalid_grant']);
  expect((await browser.open('/account/agents')).text).not.toContain('Chat of Ada');
  expect(email).toMatch(/@/);
});

test('metadata is available at both addresses, also for pages', async () => {
  const read = async (path: string) => {
    const answer = await fetch(`${fixture.url}${path}`);
    return { body: await answer.json(), origin: answer.headers.get('access-control-allow-origin') };
  };
  const { baseUrl } = fixture.config;
  const plain = await read('/.well-known/oauth-protected-resource');
  expect(plain).toEqual(await read('/.well-known/oauth-protected-resource/mcp'));
  expect(plain).toMatchObject({ origin: '*', body: { resource: `${baseUrl}/mcp`, authorization_servers: [baseUrl] } });
  const server = (await read('/.well-known/oauth-authorization-server')).body;
  expect(server).toMatchObject({
    issuer: baseUrl,
    authorization_endpoint: `${baseUrl}/oauth/authorize`,
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    authorization_response_iss_parameter_supported: true,
  });
  const anonymous = await fixture.tell('/mcp', { headers: { 'content-type': 'application/json' }, body: '{}' });
  expect(anonymous.headers.get('www-authenticate')).toBe(
    `Bearer resource_metadata="${baseUrl}/.well-known/oauth-protected-resource/mcp"`,
  );
  const wrong = await fixture.tell('/mcp', {
    headers: { authorization: 'Bearer fro_x', 'content-type': 'application/json' },
    body: '{}',
  });
  expect(wrong.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token", resource_metadata="/);
});

test('a denial is reported to the client', async () => {
  const { browser } = await fixture.newSignedIn();
  const { body } = await fixture.register();
  const shown = await browser.open(fixture.question(body.client_id, pkce().challenge));
  const { searchParams } = fixture.locationOf(await browser.press(shown, 'Refuse'));
  expect(Object.fromEntries(searchParams)).toEqual({
    error: 'access_denied',
    error_description: 'The owner denied access.',
    state: 'of-the-client',
    iss: fixture.config.baseUrl,
  });
  expect(await fixture.deps.em().execute('select 1 from oauth_code where client_name = ?', ['Chat'])).toEqual([]);
});

test('a client revokes its own access alone', async () => {
  const { browser } = await fixture.newSignedIn();
  const [one, other] = [await fixture.approve(browser), await fixture.approve(browser, { client_name: 'Other' })];
  const [tokens, others] = [(await fixture.exchange(one)).body, (await fixture.exchange(other)).body];
  const status = async (token: string) => (await callWith(fixture.url, token)('GET', '/v1/account')).status;
  const end = (clientId: string, token: string) => fixture.form('/oauth/revoke', { client_id: clientId, token });
  for (const token of [others.access_token, others.refresh_token, 'fro_nothing']) {
    expect((await end(one.clientId, token)).status).toBe(200);
  }
  expect([await status(tokens.access_token), await status(others.access_token)]).toEqual([200, 200]);
  expect((await end(one.clientId, tokens.refresh_token)).status).toBe(200);
  expect([await status(tokens.access_token), await status(others.access_token)]).toEqual([401, 200]);
  expect((await end(other.clientId, others.access_token)).status).toBe(200);
  expect((await fixture.renew(other.clientId, others.refresh_token)).body.error).toBe('invalid_grant');
});

test('without e-mail sign-in, no client gets access', async () => {
  const closed = await createOauthFixture({ FRONTAGE_EMAIL_SIGNIN: 'off' });
  try {
    expect((await fetch(`${closed.url}/.well-known/oauth-authorization-server`)).status).toBe(503);
    expect((await closed.register()).body.error).toBe('temporarily_unavailable');
    const anonymous = await closed.tell('/mcp', { headers: { 'content-type': 'application/json' }, body: '{}' });
    expect(anonymous.headers.get('www-authenticate')).toBe('Bearer');
  } finally {
    await closed.close();
  }
});
