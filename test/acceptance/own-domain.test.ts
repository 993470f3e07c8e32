/**
 * An owner's domain, from the call that adds it to a page in a browser, over HTTP alone.
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
import { expect, test } from 'vitest';
import { visit, visitHttp2 } from '#test/certificates/visit.ts';
import { pathOf } from '#test/stack/requirements.ts';
import { useStack } from '#test/stack/stack.ts';
import { launchChromium } from '#test/web/chromium.ts';

const stack = useStack();
const port = Number(stack.env.FRONTAGE_EDGE_TLS_PORT);
const roots = () => readFileSync(join(stack.dataDir, 'authority', 'roots.pem'), 'utf8');
const page = (title: string) => `<!doctype html><title>${title}</title><h1>${title}</h1>`;

let count = 0;
/** A site with one page, uploaded. */
async function newSite(): Promise<{ id: string; title: string }> {
  const name = `own-domain-${++count}-${process.pid}`;
  const title = `The page of ${name}`;
  const { body: site } = await stack.api('/v1/sites', { body: { name, title: name, template: 'blank' } });
  const { body: deployment } = await stack.api(`/v1/sites/${site.id}/deployments`, { body: {} });
  const bytes = Buffer.from(page(title));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  await stack.api(`/v1/deployments/${deployment.id}/manifest`, {
    body: { files: [{ path: 'index.html', sha256, bytes: bytes.length }] },
  });
  await fetch(`${stack.baseUrl}/v1/deployments/${deployment.id}/files/${sha256}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${stack.owner.token}`, 'content-type': 'application/octet-stream' },
    body: bytes,
  });
  const { body: live } = await stack.api(`/v1/deployments/${deployment.id}/complete`, { method: 'POST', body: {} });
  expect(live.status).toBe('live');
  return { id: site.id, title };
}

const untilLive = async (id: string) => {
  const read = async () => (await stack.api(`/v1/domains/${id}`)).body;
  const isLive = async () => {
    const { status, ssl } = await read();
    return { status, ssl: ssl.status };
  };
  await expect.poll(isLive, { timeout: 60_000, interval: 250 }).toEqual({ status: 'active', ssl: 'active' });
};

test.for(['nameservers', 'cname'] as const)(
  'a %s domain serves its site over TLS within 30 s of correct records',
  { timeout: 120_000 },
  async (mode) => {
    const site = await newSite();
    const host = `${mode}-${process.pid}.test`;
    const { status, body: domain } = await stack.api('/v1/domains', { body: { domain: host, mode } });
    expect(status).toBe(200);
    const set = await fetch(stack.registrarUrl ?? '', { method: 'POST', body: JSON.stringify(domain) });
    expect(set.status).toBe(200);
    const began = performance.now();
    await untilLive(domain.id);
    const attached = await stack.api(`/v1/domains/${domain.id}/attach`, { body: { site_id: site.id } });
    expect(attached.status).toBe(200);
    const trip = { port, host, root: roots() };
    await expect.poll(async () => (await visit('/', trip)).status, { interval: 100, timeout: 10_000 }).toBe(200);
    const seconds = (performance.now() - began) / 1000;
    expect((await visitHttp2('/', trip)).text).toContain(site.title);
    expect(seconds).toBeLessThan(30);
    await seeInBrowser(`https://${host}:${port}/`, site.title);
    const { body: gone } = await stack.api(`/v1/domains/${domain.id}/detach`, { method: 'POST', body: {} });
    expect(gone.site_id).toBe(null);
    await expect.poll(async () => (await visit('/', trip)).status, { interval: 100, timeout: 10_000 }).toBe(404);
  },
);

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
    const browser = await launchChromium({ hosts: 'MAP *.test 127.0.0.1', env: { ...process.env, HOME: home } });
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
