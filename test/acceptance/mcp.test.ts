/**
 * An agent that knows only an address creates its owner's site with MCP tools alone: `/llms.txt` names `/mcp`.
 * @module-tag chromium
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { timetable } from '#test/bookings/timetable.ts';
import type { Agent } from '#test/mcp/fixture.ts';
import { pathOf } from '#test/stack/requirements.ts';
import { type Owner, useStack } from '#test/stack/stack.ts';
import { launchChromium } from '#test/web/chromium.ts';
import { connectAs, type OauthClient } from './oauth-client.ts';
import { expectPage, page } from './story.ts';

const stack = useStack();
const name = `mcp-${randomBytes(4).toString('hex')}`;
const pictures = process.env.FRONTAGE_PICTURES;

let chrome: Browser;
let owner: Owner;
let client: OauthClient;
let agent: Agent;
let siteId = '';
/** All that it knows comes from here. */
const llms = await (await fetch(`${stack.baseUrl}/llms.txt`)).text();
const mcpUrl = /^- Tools at (\S+): .*with OAuth/m.exec(llms)?.[1] ?? '';

beforeAll(async () => {
  chrome = await launchChromium();
  owner = await stack.openOwner();
});
afterAll(async () => {
  await client?.close();
  await chrome?.close();
});

/** A picture for whoever looks at the pages (`FRONTAGE_PICTURES=<folder>`), at the widths of a desk and of a phone. */
async function picture(of: Page, what: string): Promise<void> {
  if (pictures === undefined) return;
  mkdirSync(pictures, { recursive: true });
  for (const width of [1280, 390]) {
    await of.setViewportSize({ width, height: 844 });
    await of.screenshot({ path: join(pictures, `${what}-${width}.png`), fullPage: true });
  }
}

/** Newest first. */
async function mailsTo(address: string): Promise<{ text: string }[]> {
  const answer = await fetch(`${stack.mailUrl}/messages?to=${encodeURIComponent(address)}`);
  return ((await answer.json()) as { items: { text: string }[] }).items;
}

async function linkMailedTo(address: string): Promise<string> {
  let link: string | undefined;
  const read = async () => {
    link = /https?:\/\/\S+/.exec((await mailsTo(address))[0]?.text ?? '')?.[0];
    return link;
  };
  await expect.poll(read, { timeout: 60_000, interval: 100 }).toBeTypeOf('string');
  return link ?? '';
}

/** What the overlay's frame sends for an owner who has opened the link and pressed on the page. */
async function sayAsOwner(link: string, body: string): Promise<void> {
  const said = await fetch(`${stack.baseUrl}/review/threads`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-review': link.split('/').at(-1) ?? '' },
    body: JSON.stringify({ page: '/', body, position: {} }),
  });
  expect(said.status).toBe(200);
}

test('the owner signs in by e-mail and consents, and the client gets access', async () => {
  const tab = await (await chrome.newContext({ viewport: { width: 390, height: 844 } })).newPage();
  const stopped: string[] = [];
  tab.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) stopped.push(message.text());
  });
  client = await connectAs('Claude', mcpUrl, async (address) => {
    await tab.goto(address.href);
    await picture(tab, 'sign-in');
    await tab.fill('input[name=email]', owner.email);
    await tab.click('text=Send me a link');
    await tab.waitForSelector('h1:has-text("Check your e-mail")');
    await tab.goto(await linkMailedTo(owner.email));
    await tab.click('button:has-text("Sign in")');
    await tab.waitForSelector('h1:has-text("Give Claude access to your websites?")');
    expect(await tab.textContent('main')).toMatch(/a program on this device/);
    expect(await tab.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await picture(tab, 'consent');
    await tab.click('text=Give access');
    await tab.waitForSelector('text=You are back at your program');
  });
  expect(stopped).toEqual([]);
  agent = client.agent;
  expect((await agent.call('account_read')).body.email).toBe(owner.email);
  await tab.goto(`${stack.baseUrl}/account/agents`);
  expect(await tab.textContent('main')).toContain('Claude');
  await picture(tab, 'account');
  await tab.context().close();
});

test('the client reads the guide and lists its tools', async () => {
  const { resources } = await agent.client.listResources();
  const first = /Read \[SKILL\.md\]\((\S+?)\) first/.exec(llms)?.[1];
  const skill = resources.find(({ uri }) => uri === first);
  const { contents } = await agent.client.readResource({ uri: skill?.uri ?? '' });
  expect((contents[0] as { text: string }).text).toContain('stages/');
  expect((await agent.call('skill_read', { path: 'SKILL.md' })).content).toEqual([
    { type: 'text', text: (contents[0] as { text: string }).text },
  ]);
  const names = (await agent.tools()).map((tool) => tool.name);
  expect(names).toEqual(
    expect.arrayContaining(['site_publish', 'source_commit', 'find_operations', 'call_operations']),
  );
});

test('the client creates a site from a template, changes and publishes it with progress', async () => {
  const { body: templates } = await agent.call('template_list');
  const { body: site } = await agent.call('site_create', {
    name,
    title: 'By tools',
    template: templates.items[0].name,
  });
  siteId = site.id;
  const { body: folder } = await agent.call('source_files', { id: siteId, path: 'src/pages' });
  expect(folder.items.map(({ path }: { path: string }) => path)).toContain('src/pages/index.astro');
  const changes = [{ path: 'src/pages/index.astro', text: `---\n---\n${page('Made by tools')}` }];
  expect((await agent.call('source_commit', { id: siteId, message: 'Say who made it', changes })).isError).toBe(
    undefined,
  );
  const heard: (string | undefined)[] = [];
  const { body: live } = await agent.call('site_publish', { id: siteId }, ({ message }) => heard.push(message));
  expect([live.status, live.next_action]).toEqual(['live', undefined]);
  expect(heard.length).toBeGreaterThan(0);
  for (const word of heard) expect(['queued', 'building', 'storing']).toContain(word);
  await expectPage({ name }, '/', 'Made by tools');
});

test('a failed publish is a failed tool call with the log, and changes nothing', async () => {
  const commit = async (text: string) => {
    const changes = [{ path: 'src/pages/index.astro', text }];
    expect((await agent.call('source_commit', { id: siteId, message: 'Try', changes })).error).toBe(undefined);
  };
  await commit('---\nconst broken = ;\n---\n');
  const heard: string[] = [];
  const told = await agent.call('site_publish', { id: siteId }, ({ message }) => heard.push(message ?? ''));
  expect([told.isError, told.error.code, told.error.detail.length > 0]).toEqual([true, 'build_failed', true]);
  expect((await agent.call('site_publish', { id: siteId, wait_seconds: 50 })).error.code).toBe('build_failed');
  await expectPage({ name }, '/', 'Made by tools');
  await commit(`---\n---\n${page('Made better by tools')}`);
});

test('the client shows a draft to the owner, and answers and resolves the comments', async () => {
  const heard: string[] = [];
  const built = await agent.call('preview_build', { id: siteId, slot: '1' }, ({ message }) =>
    heard.push(message ?? ''),
  );
  expect(built.error).toBe(undefined);
  const { body: slot } = built;
  expect([slot.status, heard.includes('building')]).toEqual(['draft', true]);
  const label = new URL(slot.address).hostname.split('.')[0] ?? '';
  expect((await stack.visit(label, '/')).text).toContain('Made better by tools');
  const { body: link } = await agent.call('review_create', { id: siteId, slot: 1 });
  await sayAsOwner(link.url, 'Larger, please.');
  const [thread] = (await agent.call('comment_list', { id: siteId, status: 'open' })).body.items;
  expect(thread.messages).toMatchObject([{ body: 'Larger, please.', author_kind: 'owner' }]);
  await agent.call('comment_reply', { id: thread.id, message: 'It is larger now.' });
  const { body: settled } = await agent.call('comment_write', { id: siteId, thread_id: thread.id, action: 'resolve' });
  expect([settled.status, settled.messages.length]).toEqual(['resolved', 2]);
  expect((await agent.call('inbox_read')).body.items).toMatchObject([{ kind: 'failed_build' }]);
});

test('the client adds a form and a timetable that visitors find', async () => {
  const fields = [{ name: 'word', label: 'A word', kind: 'text', required: true }];
  const { body: form } = await agent.call('form_create', { id: siteId, name: 'Contact', fields });
  expect((await fetch(form.action_url, { headers: { accept: 'application/json' } })).status).toBe(200);
  const { body: bookable } = await agent.call('bookable_declare', { id: siteId, ...timetable() });
  const offer = await fetch(`${stack.baseUrl}/b/${bookable.public_id}`);
  expect([offer.status, JSON.stringify(await offer.json())]).toEqual([200, expect.stringContaining('talk')]);
});

test('the client adds a domain, names the DNS records to set, and attaches it', {
  tags: ['pebble', 'powerdns'],
}, async () => {
  const domain = `${name}.test`;
  const { body: brought } = await agent.call('domain_onboard', { domain, mode: 'cname' });
  expect([brought.status, brought.setup.length > 0, typeof brought.next_action]).toEqual(['pending', true, 'string']);
  expect((await fetch(stack.registrarUrl ?? '', { method: 'POST', body: JSON.stringify(brought) })).status).toBe(200);
  const check = async () => (await agent.call('domain_check', { id: brought.id })).body;
  // What the owner has set is seen when it has gone round, and until then it is his to wait for.
  const done = { status: 'active', ssl: { status: 'active' } };
  await expect.poll(check, { timeout: 90_000, interval: 5_500 }).toMatchObject(done);
  const { body: attached } = await agent.call('domain_attach', { id: brought.id, site_id: siteId });
  expect(attached.site_id).toBe(siteId);
});

test('calls in parallel after the hour refresh the access once', async () => {
  client.spoil();
  const accounts = await Promise.all([1, 2, 3, 4].map(() => agent.call('account_read')));
  expect(accounts.map(({ body }) => body?.email)).toEqual([1, 2, 3, 4].map(() => owner.email));
  expect((await agent.tools()).length).toBeGreaterThan(10);
});

test('the official Python SDK connects, lists, calls and refreshes', {
  tags: 'mcp-python',
  timeout: 60_000,
}, async () => {
  const program = spawn(await pathOf('mcp-python'), [join(import.meta.dirname, 'sdk.py'), mcpUrl]);
  let [out, err] = ['', ''];
  program.stdout.on('data', (part) => {
    out += part;
  });
  program.stderr.on('data', (part) => {
    err += part;
  });
  const ended = once(program, 'close');
  await expect.poll(() => out || err, { timeout: 30_000 }).toMatch(/^http\S+\n/);
  const tab = await chrome.newPage();
  await tab.goto(out.trim());
  await tab.fill('input[name=email]', owner.email);
  const before = (await mailsTo(owner.email)).length;
  await tab.click('text=Send me a link');
  await expect.poll(async () => (await mailsTo(owner.email)).length, { timeout: 60_000 }).toBe(before + 1);
  await tab.goto(await linkMailedTo(owner.email));
  await tab.click('button:has-text("Sign in")');
  await tab.click('text=Give access');
  await tab.waitForSelector('text=You are back at your program');
  await tab.close();
  await ended;
  const [, answer = ''] = out.trim().split('\n');
  expect(answer, err).toMatch(/^\{/);
  const told = JSON.parse(answer);
  expect(told).toEqual({ tools: expect.arrayContaining(['site_publish']), email: owner.email, refreshed: true });
});

test('a disconnected client’s next call is refused', async () => {
  const { items } = (await stack.api('/v1/tokens', { token: owner.token })).body;
  const { id } = items.find((token: { name: string }) => token.name === 'Claude');
  expect((await stack.api(`/v1/tokens/${id}`, { method: 'DELETE', token: owner.token })).status).toBe(200);
  await expect(agent.call('account_read')).rejects.toThrow();
});
