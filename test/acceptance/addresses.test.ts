/** No visitor's address is in any file that a whole system has written. */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OwnStack, startOwnStack } from '#test/stack/stack.ts';
import { until } from '#test/stack/until.ts';

let stack: OwnStack;
beforeAll(async () => {
  stack = await startOwnStack({
    processes: ['api', 'edge'],
    env: {
      FRONTAGE_TRUSTED_PROXIES: '127.0.0.1',
      FRONTAGE_COUNTRY_HEADER: 'x-country',
      FRONTAGE_EDGE_ACCESS_LOG: 'on',
      FRONTAGE_LOG_LEVEL: 'trace',
    },
  });
}, 120_000);
afterAll(() => stack?.killAll());

const addresses = ['203.0.113.77', '198.51.100.201', '2001:db8:5eed:beef:1:2:3:4'];
const browser = 'Mozilla/5.0 (X11; Linux x86_64; Unmistakable) AppleWebKit/537.36 Chrome/131.0.0.0 Safari/537.36';
/** As text, as its network, and what a visitor's browser says of itself. */
const needles = [...addresses, '2001:db8:5eed:beef', 'Unmistakable'];

/** Every file below the folder, but for pipes and links. */
function* filesIn(folder: string): Generator<string> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory()) yield* filesIn(path);
    else if (stat?.isFile()) yield path;
  }
}

/** Files that hold one of these. */
function found(words: string[]): string[] {
  const places: string[] = [];
  for (const path of filesIn(stack.dataDir)) {
    let bytes: Buffer;
    try {
      bytes = readFileSync(path);
    } catch {
      continue; // The database has removed it meanwhile.
    }
    for (const word of words) if (bytes.includes(word)) places.push(`${path}: ${word}`);
  }
  return places;
}

/** Rows of all tables that hold one of these: what the database has not written to its files yet. */
async function foundInRows(words: string[]): Promise<string[]> {
  const db = new pg.Client({ connectionString: stack.databaseUrl });
  await db.connect();
  try {
    const { rows: tables } = await db.query(`select tablename as name from pg_tables where schemaname = 'public'`);
    const places: string[] = [];
    for (const { name } of tables) {
      const { rows } = await db.query(`select whole::text as text from "${name}" as whole`);
      for (const { text } of rows) for (const word of words) if (text.includes(word)) places.push(`${name}: ${word}`);
    }
    return places;
  } finally {
    await db.end();
  }
}

async function publish(): Promise<{ id: string; name: string }> {
  const page = '<!doctype html><title>Seen</title>';
  const sha256 = createHash('sha256').update(page).digest('hex');
  const name = 'seen-by-many';
  const { body: site } = await stack.api('/v1/sites', { body: { name, title: 'Seen', template: 'blank' } });
  const { body: upload } = await stack.api(`/v1/sites/${site.id}/deployments`, { body: {} });
  const files = [{ path: 'index.html', sha256, bytes: page.length }];
  await stack.api(`/v1/deployments/${upload.id}/manifest`, { body: { files } });
  await fetch(`${stack.baseUrl}/v1/deployments/${upload.id}/files/${sha256}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${stack.owner.token}`, 'content-type': 'application/octet-stream' },
    body: page,
  });
  const { status } = await stack.api(`/v1/deployments/${upload.id}/complete`, { body: {} });
  if (status !== 200) throw new Error('the site is not live');
  return { id: site.id, name };
}

test('visitors are counted without their addresses reaching a log or the database', async () => {
  const site = await publish();
  await until(
    () => stack.visit(site.name, '/'),
    ({ status }) => status === 200,
  );
  for (const address of addresses) {
    const headers = { 'user-agent': browser, 'x-forwarded-for': address, 'x-country': 'NZ' };
    for (const path of ['/', '/', '/missing', '/%zz']) await stack.visit(site.name, path, { headers });
    await stack.visit(site.name, '/', { headers: { ...headers, connection: 'close' } });
    await stack.visit(site.name, '/', { method: 'POST', headers });
    // Visitors' own calls of the platform are limited by address.
    for (const path of ['/docs', '/signin', `/f/form_none`, `/b/none/days`, '/v1/account'])
      await fetch(`${stack.baseUrl}${path}`, { headers });
  }
  const report = await until(
    () => stack.api(`/v1/sites/${site.id}/analytics?period=24h`),
    ({ body }) => body.views >= 3 * addresses.length,
  );
  expect(report.body).toMatchObject({ visitors: addresses.length, countries: [{ country: 'NZ', views: 9 }] });
  expect(found(needles)).toEqual([]);
  expect(await foundInRows(needles)).toEqual([]);
  // The search finds what is there, in a log and in the database.
  const kept = found([site.name]);
  expect(await foundInRows([site.name])).toContain(`site: ${site.name}`);
  expect(kept.some((place) => place.includes('edge.log'))).toBe(true);
  expect(kept.some((place) => place.includes('/postgres/'))).toBe(true);
}, 120_000);
