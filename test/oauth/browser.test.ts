/**
 * What Chromium makes of it: policies hold every redirect that follows a form, and scripts of other sites read only what they may.
 * @module-tag chromium
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { issueToken } from '#api/tokens/rules.ts';
import { callWith, createSite } from '#test/api/fixture.ts';
import { launchChromium } from '#test/web/chromium.ts';
import { type Look, look, looks } from '#test/web/looks.ts';
import { createOauthFixture, type OauthFixture, pkce } from './fixture.ts';

let fixture: OauthFixture;
/** The platform on localhost, with which cookies over plain HTTP stay. */
let here: URL;
const servers: Server[] = [];
let chrome: Browser | undefined;
/** The connector's own address sends its user on to another origin, where it says that all is well. */
let callbackUrl = '';
let elsewhere = '';

beforeAll(async () => {
  fixture = await createOauthFixture();
  here = Object.assign(new URL(fixture.url), { hostname: 'localhost' });
  chrome = await launchChromium({ hosts: 'MAP *.example ~NOTFOUND' });
  elsewhere = await serve((_url) => ({ status: 200, headers: { 'content-type': 'text/html' } }));
  callbackUrl = `${await serve((url) => ({ status: 302, headers: { location: `${elsewhere}/done${url}` } }))}/callback`;
}, 60_000);
afterAll(async () => {
  await chrome?.close();
  for (const server of servers) server.close();
  await fixture.close();
});

type Plain = { status: number; headers: Record<string, string> };
async function serve(answer: (url: string) => Plain): Promise<string> {
  const server = createServer((request, response) => {
    const { status, headers } = answer(request.url ?? '');
    response.writeHead(status, headers).end('<!doctype html><title>All is well</title>');
  });
  servers.push(server);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A page that is not signed in. */
async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
  return await (await (chrome as Browser).newContext(options)).newPage();
}

/** That the page has gone there: a host of the web, which no browser of a test finds. A policy would have stopped it before it looked. */
async function hasLeftFor(page: Page, origin: string, act: () => Promise<void>): Promise<string> {
  const failing = page.waitForEvent('requestfailed', (request) => request.url().startsWith(origin));
  await act();
  const failed = await failing;
  expect(failed.failure()?.errorText).toBe('net::ERR_NAME_NOT_RESOLVED');
  // The browser's own page follows, and would interrupt the next navigation.
  await expect.poll(() => page.url()).toMatch(/^chrome-error:/);
  return failed.url();
}

async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel(/address/i).fill(email);
  await page.getByRole('button', { name: 'Send me a link' }).click();
  await page.waitForLoadState();
  await page.goto(new URL(await fixture.linkTo(email, 'signin-link'), here).href);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** A browser that a connector has sent here, and the owner in front of it. */
async function question(redirectUri: string, more: Record<string, string | undefined> = {}): Promise<[Page, string]> {
  const { body } = await fixture.register({ redirect_uris: [redirectUri] });
  const page = await newPage();
  const { challenge } = pkce();
  await page.goto(
    new URL(fixture.question(body.client_id, challenge, { redirect_uri: redirectUri, ...more }), here).href,
  );
  return [page, (await fixture.newOwner()).email];
}

async function ask(redirectUri: string): Promise<Page> {
  const [page, email] = await question(redirectUri);
  await signIn(page, email);
  return page;
}

test('approval and denial reach a client on the web', async () => {
  for (const [button, answer] of [
    ['Give access', 'code=frc_'],
    ['Refuse', 'error=access_denied'],
  ] as const) {
    const page = await ask('https://connector.example/callback');
    const press = () => page.getByRole('button', { name: button }).click();
    expect(await hasLeftFor(page, 'https://connector.example', press)).toContain(answer);
    await page.context().close();
  }
});

test('approval reaches a program on this machine, and continues to its own page', async () => {
  const page = await ask(callbackUrl);
  await page.getByRole('button', { name: 'Give access' }).click();
  await page.waitForURL(`${elsewhere}/done/callback?code=*`);
  expect(await page.title()).toBe('All is well');
  await page.context().close();
});

/** An owner of two websites, and the ids of these. */
async function ownerOfTwo() {
  const { email, accountId } = await fixture.newOwner();
  const { secret } = await issueToken(fixture.deps.em(), fixture.clock, accountId, { name: 'first' });
  const caller = { accountId, token: secret, call: callWith(fixture.url, secret) };
  const made = [];
  for (const title of ['The bakery', 'The pottery with a name as long as people give it, by the old mill'])
    made.push(await createSite(caller, { title }));
  return { email, sites: made.map(({ id }) => id as string), call: caller.call };
}

/** Gives what the page is about the second website alone, to read. */
async function giveOneSite(page: Page, name: string, at: Look): Promise<void> {
  await look(page, name, at);
  await page.getByLabel('Only read them').check();
  await page.getByLabel('Only these').check();
  await page.getByRole('button', { name: 'Give access' }).click();
  await page.getByRole('alert').waitFor();
  expect(await page.getByRole('alert').textContent()).toContain('Choose at least one website');
  await look(page, `${name}-again`, at);
  await page.getByLabel(/^The pottery/).check();
}

// Two pages with their mistakes: on a busy machine each press takes seconds.
test.each(looks)(
  'at $width px an owner gives an app and an agent one website',
  {
    timeout: 90_000,
  },
  async (at) => {
    const { email, sites, call } = await ownerOfTwo();
    const page = await newPage({ viewport: { width: at.width, height: 900 } });
    const { body: client } = await fixture.register({ redirect_uris: ['https://connector.example/callback'] });
    const asked = fixture.question(client.client_id, pkce().challenge);
    await page.goto(new URL(asked, here).href);
    await signIn(page, email);
    await page.getByRole('heading', { name: 'Give Chat access to your websites?' }).waitFor();
    await giveOneSite(page, 'consent', at);
    const press = () => page.getByRole('button', { name: 'Give access' }).click();
    expect(await hasLeftFor(page, 'https://connector.example', press)).toContain('code=frc_');

    const { body: request } = await fixture.ask(email);
    await page.goto(new URL(await fixture.linkTo(email, 'access-request'), here).href);
    await page.getByLabel('Code shown by your agent (8 letters)').fill(request.user_code);
    await giveOneSite(page, 'approval', at);
    await page.getByLabel('Code shown by your agent (8 letters)').fill(request.user_code);
    await press();
    await page.getByRole('heading', { name: 'Access granted' }).waitFor();
    await look(page, 'approved', at);
    const scope = { sites: [sites[1]], access: 'read', payouts: false, account: false };
    expect((await fixture.redeem(request)).body.token.scope).toEqual(scope);
    const { items } = (await call('GET', '/v1/tokens')).body;
    expect(items.map((token: { scope: object }) => token.scope)).toContainEqual(scope);
    await page.goto(new URL('/account/agents', here).href);
    await page.getByText('one website · may only read').first().waitFor();
    await look(page, 'agents-of-one-website', at);
    await page.context().close();
  },
);

test('a client in a foreign page registers and exchanges, and reads nothing else', async () => {
  const page = await newPage();
  await page.goto(elsewhere);
  const told = await page.evaluate(
    async ({ base }) => {
      const version = { 'mcp-protocol-version': '2025-11-25' };
      const json = { 'content-type': 'application/json', ...version };
      const read = (path: string, init?: RequestInit) =>
        fetch(`${base}${path}`, init).then(
          async (answer) => [path, answer.status, Object.keys((await answer.json()) as object)[0]],
          () => [path, 'shut'],
        );
      const metadata = '{"redirect_uris":["https://connector.example/callback"]}';
      const fields = () => new URLSearchParams({ client_id: 'x' });
      return [
        await read('/.well-known/oauth-protected-resource/mcp', { headers: version }),
        await read('/.well-known/oauth-authorization-server', { headers: version }),
        await read('/oauth/register', { method: 'POST', headers: json, body: metadata }),
        await read('/oauth/register', { method: 'POST', headers: json, body: '{' }),
        await read('/oauth/token', { method: 'POST', headers: version, body: fields() }),
        await read('/oauth/revoke', { method: 'POST', headers: version, body: fields() }),
        await read('/oauth/authorize'),
        await read('/v1/account'),
        await read('/mcp', { method: 'POST', headers: json, body: '{}' }),
      ];
    },
    { base: here.origin },
  );
  expect(told).toEqual([
    ['/.well-known/oauth-protected-resource/mcp', 200, 'resource'],
    ['/.well-known/oauth-authorization-server', 200, 'issuer'],
    ['/oauth/register', 201, 'client_id'],
    ['/oauth/register', 400, 'error'],
    ['/oauth/token', 401, 'error'],
    ['/oauth/revoke', 401, 'error'],
    ['/oauth/authorize', 'shut'],
    ['/v1/account', 'shut'],
    ['/mcp', 'shut'],
  ]);
  await page.context().close();
});
