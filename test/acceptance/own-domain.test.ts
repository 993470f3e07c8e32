/**
 * An owner's domain, from the call or the page that adds it to the site in a browser, over HTTP alone.
 * @module-tag chromium
 * @module-tag certutil
 * @module-tag pebble
 * @module-tag powerdns
 */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { visit, visitHttp2 } from '#test/certificates/visit.ts';
import { pathOf } from '#test/stack/requirements.ts';
import { type Owner, useStack } from '#test/stack/stack.ts';

const stack = useStack();
const port = Number(stack.env.FRONTAGE_EDGE_TLS_PORT);
const roots = () => readFileSync(join(stack.dataDir, 'authority', 'roots.pem'), 'utf8');
const page = (title: string) => `<!doctype html><title>${title}</title><h1>${title}</h1>`;

let count = 0;
/** A site with one page, uploaded. */
async function newSite({ token }: Owner): Promise<{ id: string; title: string }> {
  const name = `own-domain-${++count}-${process.pid}`;
  const title = `The page of ${name}`;
  const { body: site } = await stack.api('/v1/sites', { body: { name, title: name, template: 'blank' }, token });
  const { body: deployment } = await stack.api(`/v1/sites/${site.id}/deployments`, { body: {}, token });
  const bytes = Buffer.from(page(title));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  await stack.api(`/v1/deployments/${deployment.id}/manifest`, {
    body: { files: [{ path: 'index.html', sha256, bytes: bytes.length }] },
    token,
  });
  await fetch(`${stack.baseUrl}/v1/deployments/${deployment.id}/files/${sha256}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' },
    body: bytes,
  });
  const { body: live } = await stack.api(`/v1/deployments/${deployment.id}/complete`, {
    method: 'POST',
    body: {},
    token,
  });
  expect(live.status).toBe('live');
  return { id: site.id, title };
}

type Domain = { id: string; setup: { type: string; value: string }[] };
/** How an owner adds a domain, and shows a site there once it is live. */
type Way = {
  add(mode: string, host: string): Promise<Domain>;
  show(domain: Domain): Promise<unknown>;
  close(): Promise<void>;
};

function byCalls({ token }: Owner, siteId: string): Way {
  return {
    add: async (mode, domain) => (await stack.api('/v1/domains', { body: { domain, mode }, token })).body,
    show: ({ id }) => stack.api(`/v1/domains/${id}/attach`, { body: { site_id: siteId }, token }),
    close: async () => {},
  };
}

/** On the pages of the site, with their copy buttons. */
async function byPages(owner: Owner, siteId: string): Promise<Way> {
  const browser = await openBrowser();
  const permissions = ['clipboard-read', 'clipboard-write'];
  const tab = await (await browser.newContext({ viewport: { width: 390, height: 844 }, permissions })).newPage();
  await signIn(tab, owner);
  const press = (name: string) => tab.getByRole('button', { name, exact: true }).click();
  const isDone = (step: string) => tab.getByRole('heading', { name: `${step} ✓ done` }).isVisible();
  return {
    async add(mode, host) {
      await tab.goto(`${stack.baseUrl}/account/sites/${siteId}/domains`);
      await tab.getByLabel('Domain', { exact: true }).fill(host);
      await tab.getByLabel('How to connect it').selectOption(mode);
      await press('Connect the domain');
      await tab.getByText('Now follow the steps.').waitFor();
      const { body } = await stack.api('/v1/domains', { token: owner.token });
      for (const { value } of body.items[0].setup) {
        await tab.locator('.set li', { hasText: value }).getByLabel('Copy the value').click();
        await expect.poll(() => tab.evaluate('navigator.clipboard.readText()')).toBe(value);
      }
      return body.items[0];
    },
    async show() {
      await tab.reload();
      const steps = ['Prove that the domain is yours', 'Point it here', 'Certificate', 'Show the site there'];
      expect(await Promise.all(steps.map(isDone))).toEqual([true, true, true, false]);
      await press('Show this site there');
      await tab.getByText('is the main address of this site').waitFor();
      expect(await isDone('Show the site there')).toBe(true);
    },
    close: () => browser.close(),
  };
}

async function signIn(tab: Page, { email }: Owner): Promise<void> {
  await tab.goto(`${stack.baseUrl}/signin`);
  await tab.getByLabel('E-mail address').fill(email);
  await tab.getByRole('button', { name: 'Send me a link' }).click();
  await tab.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
  const link = async () => {
    const answer = await fetch(`${stack.mailUrl}/messages?to=${encodeURIComponent(email)}`);
    const { items } = (await answer.json()) as { items: { text: string }[] };
    return /https?:\/\/\S+/.exec(items[0]?.text ?? '')?.[0] ?? '';
  };
  await expect.poll(link, { timeout: 60_000, interval: 100 }).not.toBe('');
  await tab.goto(await link());
  await tab.getByRole('button', { name: 'Sign in' }).click();
  await tab.getByRole('heading', { name: 'Your sites' }).waitFor();
}

const untilLive = async ({ token }: Owner, { id }: Domain) => {
  const read = async () => (await stack.api(`/v1/domains/${id}`, { token })).body;
  const isLive = async () => {
    const { status, ssl } = await read();
    return { status, ssl: ssl.status };
  };
  await expect.poll(isLive, { timeout: 60_000, interval: 250 }).toEqual({ status: 'active', ssl: 'active' });
};

test.for([
  ['nameservers', byCalls],
  ['cname', byPages],
] as const)(
  'a %s domain serves its site over TLS within 30 s of correct records',
  { timeout: 120_000 },
  async ([mode, connect]) => {
    const owner = await stack.openOwner();
    const site = await newSite(owner);
    const host = `${mode}-${process.pid}.test`;
    const way = await connect(owner, site.id);
    const domain = await way.add(mode, host);
    const set = await fetch(stack.registrarUrl ?? '', { method: 'POST', body: JSON.stringify(domain) });
    expect(set.status).toBe(200);
    const began = performance.now();
    await untilLive(owner, domain);
    await way.show(domain);
    const trip = { port, host, root: roots() };
    await expect.poll(async () => (await visit('/', trip)).status, { interval: 100, timeout: 10_000 }).toBe(200);
    const seconds = (performance.now() - began) / 1000;
    await way.close();
    expect((await visitHttp2('/', trip)).text).toContain(site.title);
    expect(seconds).toBeLessThan(30);
    await seeInBrowser(`https://${host}:${port}/`, site.title);
    const { body: gone } = await stack.api(`/v1/domains/${domain.id}/detach`, {
      method: 'POST',
      body: {},
      token: owner.token,
    });
    expect(gone.site_id).toBe(null);
    await expect.poll(async () => (await visit('/', trip)).status, { interval: 100, timeout: 10_000 }).toBe(404);
  },
);

const openBrowser = async (home?: string): Promise<Browser> =>
  await chromium.launch({
    executablePath: await pathOf('chromium'),
    ...(home ? { env: { ...(process.env as Record<string, string>), HOME: home } } : {}),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--host-resolver-rules=MAP *.test 127.0.0.1',
    ],
  });

/** In a browser that trusts this authority's root, and has no other word on what is safe. */
async function seeInBrowser(url: string, title: string): Promise<void> {
  const certutil = await pathOf('certutil');
  const home = mkdtempSync(join(tmpdir(), 'frontage-browser-'));
  const database = `sql:${join(home, '.pki/nssdb')}`;
  try {
    mkdirSync(join(home, '.pki/nssdb'), { recursive: true });
    execFileSync(certutil, ['-d', database, '-N', '--empty-password']);
    roots()
      .split(/(?<=-----END CERTIFICATE-----\n)/)
      .filter((pem) => pem.includes('BEGIN'))
      .forEach((pem, n) => {
        writeFileSync(join(home, 'root.pem'), pem);
        execFileSync(certutil, ['-d', database, '-A', '-t', 'C,,', '-n', `root ${n}`, '-i', join(home, 'root.pem')]);
      });
    const browser = await openBrowser(home);
    try {
      const tab = await browser.newPage();
      const answer = await tab.goto(url);
      expect(answer?.status()).toBe(200);
      expect(await answer?.securityDetails()).toMatchObject({ protocol: 'TLS 1.3' });
      expect(await tab.title()).toBe(title);
    } finally {
      await browser.close();
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
