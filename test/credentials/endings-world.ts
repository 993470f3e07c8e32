/** The real side: an API with two accounts and three sites, and what a secret gets from it. */
import { randomBytes } from 'node:crypto';
import { registerClient } from '#api/oauth/clients.ts';
import { issueToken } from '#api/tokens/rules.ts';
import { requireAccess } from '#git/access.ts';
import { everything } from '#rules/scopes.ts';
import { createFixture, createSite } from '#test/api/fixture.ts';
import { pkce } from '#test/oauth/fixture.ts';
import { formsOf } from '#test/people/browser.ts';
import { type Model, newModel, type Thing } from './endings-model.ts';

export const redirectUri = 'https://connector.example/callback';

// biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer is what it asserts.
type Json = any;
export type World = Awaited<ReturnType<typeof createWorld>>;

export async function createWorld() {
  const env = { FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:1', FRONTAGE_RATE_SCALE: '1000000' };
  const fixture = await createFixture(env, { limits: { tokens: 10_000 } });
  const { app, deps, clock } = fixture;
  const callers = [await fixture.newCaller(), await fixture.newCaller()];
  const accounts = callers.map(({ accountId }, at) => ({ id: accountId, email: `owner${at + 1}@example.com` }));
  const sites: string[] = [];
  for (const owner of newModel().sites.map(({ owner }) => callers[owner])) {
    if (owner) sites.push((await createSite(owner, { template: 'blank' })).id);
  }
  const client = registerClient(fixture.config, clock.now(), { redirect_uris: [redirectUri] }).clientId;
  const now = () => clock.now().getTime();

  async function call(
    secret: string,
    method: string,
    url: string,
    body?: object,
  ): Promise<{ status: number; body: Json }> {
    const answer = await app.inject({
      method: method as 'GET',
      url,
      headers: { authorization: `Bearer ${secret}` },
      ...(body ? { payload: body } : {}),
    });
    return { status: answer.statusCode, body: answer.json() };
  }

  async function form(url: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
    const answer = await app.inject({
      method: 'POST',
      url,
      payload: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });
    return { status: answer.statusCode, text: answer.body };
  }

  const browser = `frb_${randomBytes(32).toString('base64url')}`;
  const cookiesOf = (session: Thing) => `__Host-frontage_session=${session.secret}; __Host-frontage_browser=${browser}`;
  const openPage = (session: Thing) => app.inject({ url: '/account', headers: { cookie: cookiesOf(session) } });

  /** Presses the button of the account page that goes there. False if the page is not shown, or has no such button. */
  async function press(session: Thing, action: string): Promise<boolean> {
    const shown = await openPage(session);
    const found = formsOf({ text: shown.body }).find((one) => one.action === action);
    if (shown.statusCode !== 200 || !found) return false;
    const headers = { cookie: cookiesOf(session), 'sec-fetch-site': 'same-origin' };
    return (await form(action, found.fields, headers)).status === 303;
  }

  /** Whether git would let the holder fetch, or push. The wire has tests of its own. */
  async function admits({ id, secret, site = 0 }: Thing, wanted: 'read' | 'write'): Promise<boolean> {
    const header = `Basic ${Buffer.from(`${id.replace('cred_', 'git-')}:${secret}`).toString('base64')}`;
    const address = { siteId: sites[site] ?? '', repository: 'source' } as const;
    return await requireAccess(deps.em(), clock.now(), header, address, wanted).then(
      () => true,
      () => false,
    );
  }

  const opens = async (url: string, status: number) =>
    (await app.inject({ url, headers: { accept: 'application/json' } })).statusCode === status;

  /** Nothing but two accounts with a token each, and their sites, of which account 1 has joined the first. */
  async function reset(): Promise<Model> {
    const model = newModel();
    const [, guest] = accounts;
    await deps.em().execute(`
      delete from oauth_code; delete from oauth_grant; delete from git_credential; delete from upload_link;
      delete from review_link; delete from browser_session; delete from signin_link; delete from token;
      delete from history_entry; delete from mail; delete from outbox; delete from collaborator; delete from rate_limit;
      update site set status = 'active', archived_at = null, blocked_at = null, block_reason = null,
        delete_at = null, purged_at = null;
      update account set blocked_at = null, block_reason = null;
      insert into collaborator (site_id, account_id, since) values ('${sites[0]}', '${guest?.id}', now());`);
    for (const [account, { id }] of accounts.entries()) {
      const { token, secret } = await issueToken(deps.em(), clock, id, { name: 'first', scope: everything });
      const scope = { sites: 'all', access: 'write', account: true } as const;
      const label = `root of account ${account}`;
      model.things.push({
        kind: 'token',
        label,
        id: token.id,
        secret,
        account,
        scope,
        expiresAt: Infinity,
        ended: false,
      });
    }
    return model;
  }

  return {
    ...fixture,
    accounts,
    sites,
    client,
    now,
    call,
    form,
    press,
    openPage,
    admits,
    opens,
    reset,
    proof: pkce(),
  };
}
