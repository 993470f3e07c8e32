/** Connectors around an API that sends no mail: what was queued is opened and read. */
import { createHash, randomBytes } from 'node:crypto';
import type { Browser, Shown } from '#test/people/browser.ts';
import { createPeopleFixture } from '#test/people/fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer is what it asserts.
type Json = any;
export type Told = { status: number; body: Json; headers: Headers };
export type OauthFixture = Awaited<ReturnType<typeof createOauthFixture>>;
export const callback = 'https://connector.example/callback';

export function pkce(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

export async function createOauthFixture(env: Record<string, string> = {}) {
  const fixture = await createPeopleFixture(env);
  const resource = `${fixture.config.baseUrl}/mcp`;

  async function tell(path: string, init: RequestInit): Promise<Told> {
    const answer = await fetch(`${fixture.url}${path}`, { method: 'POST', redirect: 'manual', ...init });
    return { status: answer.status, headers: answer.headers, body: await answer.json() };
  }
  const form = (path: string, fields: Record<string, string>) => tell(path, { body: new URLSearchParams(fields) });
  const register = (metadata: Json = {}) =>
    tell('/oauth/register', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_name: 'Chat', redirect_uris: [callback], ...metadata }),
    });

  /** Where a connector sends the owner's browser; `undefined` leaves a parameter out. */
  function question(clientId: string, challenge: string, more: Record<string, string | undefined> = {}): string {
    const all = {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: callback,
      state: 'of-the-client',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      resource,
      ...more,
    };
    const sent = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined);
    return `/oauth/authorize?${new URLSearchParams(sent)}`;
  }

  async function newSignedIn() {
    const owner = await fixture.newOwner();
    const browser = fixture.browser();
    await fixture.signIn(browser, owner.email);
    return { ...owner, browser };
  }

  const locationOf = ({ headers }: Shown) => new URL(headers.get('location') ?? 'none:');

  /** The owner's yes to a new client: what the client holds then. */
  async function approve(
    browser: Browser,
    metadata: Json = {},
    more: Record<string, string | undefined> = {},
    ticked: Record<string, string> = {},
  ) {
    const { body } = await register(metadata);
    const { verifier, challenge } = pkce();
    const shown = await browser.open(question(body.client_id, challenge, more));
    const answered = await browser.press(shown, 'Give access', ticked);
    const code = locationOf(answered).searchParams.get('code') ?? '';
    return { clientId: body.client_id as string, verifier, code, shown, location: locationOf(answered) };
  }

  type Held = { clientId: string; verifier: string; code: string };
  const exchange = ({ clientId, verifier, code }: Held, more: Record<string, string> = {}) =>
    form('/oauth/token', {
      grant_type: 'authorization_code',
      client_id: clientId,
      code,
      code_verifier: verifier,
      redirect_uri: callback,
      resource,
      ...more,
    });
  const renew = (clientId: string, token: string, more: Record<string, string> = {}) =>
    form('/oauth/token', { grant_type: 'refresh_token', client_id: clientId, refresh_token: token, ...more });

  return {
    ...fixture,
    resource,
    tell,
    form,
    register,
    question,
    newSignedIn,
    locationOf,
    approve,
    exchange,
    renew,
  };
}
