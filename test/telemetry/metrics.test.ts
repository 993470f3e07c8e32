/** Metrics that operators see, and the alert rules and dashboard panels that name them. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import pino from 'pino';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { readMetrics } from '#db/metrics.ts';
import { openOrm } from '#db/orm.ts';
import { createResponseMetrics, durationBounds } from '#edge/http/metrics.ts';
import { readConfig } from '#runtime/config.ts';
import { newId, newPublicId } from '#runtime/ids.ts';
import { createLogger } from '#runtime/log.ts';
import { startMetricsServer } from '#runtime/telemetry/metrics-server.ts';
import { registerEdgeMetrics, renderMetrics } from '#runtime/telemetry/prometheus.ts';
import { createTestDatabase } from '#test/stack/database.ts';

const now = new Date('2027-01-31T12:00:00Z');
const clock = { now: () => now };
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);
const metrics = { host: '127.0.0.1', port: 0, temporalPort: undefined };
const quiet = pino({ level: 'silent' });
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: pg.Pool;
let orm: ReturnType<typeof openOrm>;

beforeAll(async () => {
  database = await createTestDatabase();
  db = new pg.Pool({ connectionString: database.url, max: 1 });
  orm = openOrm(database.url, { poolMax: 1 });
});
afterAll(async () => {
  await db?.end();
  await orm?.close();
  await database?.drop();
});

test('metrics report waiting work, the age of the oldest, and the first certificate expiry', async () => {
  const metricsNow = () => readMetrics(orm.em.fork(), clock);
  expect(await metricsNow()).toEqual({
    outboxWaiting: 0,
    outboxOldestSeconds: 0,
    buildsWaiting: 0,
    buildsOldestSeconds: 0,
    flagsOpen: 0,
    unscannedOldestSeconds: 0,
    mailsWaiting: 0,
    mailsOldestSeconds: 0,
    certificateDaysLeft: undefined,
  });
  await addWhatWaits();
  expect(await metricsNow()).toEqual({
    outboxWaiting: 2,
    outboxOldestSeconds: 90,
    buildsWaiting: 1,
    buildsOldestSeconds: 700,
    flagsOpen: 0,
    unscannedOldestSeconds: 0,
    mailsWaiting: 1,
    mailsOldestSeconds: 3700,
    certificateDaysLeft: 12,
  });
});

test('metrics omit certificates of unfollowed domains and of blocked accounts', async () => {
  const daysLeft = async () => (await readMetrics(orm.em.fork(), clock)).certificateDaysLeft;
  const [free, blocked] = [await addAccount(), await addAccount()];
  await db.query(`update account set blocked_at = $2, block_reason = 'abuse' where id = $1`, [blocked, now]);
  for (const status of ['Moved', 'Deleted', 'Blocked', 'pending']) await addDomain(free, status, 2);
  await addDomain(blocked, 'active', 2);
  expect(await daysLeft()).toBe(12);
  const domain = await addDomain(free, 'active', 5);
  expect(await daysLeft()).toBe(5);
  await db.query(
    'update domain set removed_at = $2, next_check_at = null, site_id = null, attached_at = null where id = $1',
    [domain, now],
  );
  expect(await daysLeft()).toBe(12);
});

test('alert rules and dashboard name only existing metrics, and operations.md lists every metric', async () => {
  const fromDatabase = await readMetrics(orm.em.fork(), clock);
  registerEdgeMetrics(createResponseMetrics(), durationBounds);
  const render = () => renderMetrics({ ...fromDatabase, certificateDaysLeft: 1 });
  const server = await startMetricsServer({ metrics, log: quiet, render });
  onTestFinished(() => server.close());
  const text = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text();
  const all = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name));
  const ops = join(import.meta.dirname, '../../operator/monitoring');
  const rules = parse(await readFile(join(ops, 'alerts.yml'), 'utf8')).groups[0].rules as { expr: string }[];
  const panels = JSON.parse(await readFile(join(ops, 'grafana.json'), 'utf8')).panels as {
    targets: { expr: string }[];
  }[];
  const exprs = [...rules, ...panels.flatMap(({ targets }) => targets)].map(({ expr }) => expr);
  const named = exprs.flatMap((expr) => expr.match(/\b(frontage|nodejs|process)_\w+/g) ?? []);
  expect(named.length).toBeGreaterThan(15);
  expect(named.map((name) => name.replace(/_(count|bucket|sum)$/, '')).filter((name) => !all.has(name))).toEqual([]);
  const operations = await readFile(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');
  const ours = [...all].filter((name) => name?.startsWith('frontage_'));
  expect(ours.filter((name) => !operations.includes(`\`${name}\``))).toEqual([]);
});

test('each alert names the section to read', async () => {
  const rules = parse(await readFile(join(import.meta.dirname, '../../operator/monitoring/alerts.yml'), 'utf8'))
    .groups[0].rules;
  const pages = ['operations.md', 'domains.md'].map((name) => join(import.meta.dirname, '../../docs', name));
  const operations = (await Promise.all(pages.map((page) => readFile(page, 'utf8')))).join('\n');
  for (const { alert, annotations } of rules) {
    expect(operations).toContain(`\n## ${annotations.do}\n`);
    if (annotations.do === 'What to check at 3 a.m.') expect(operations).toMatch(new RegExp(`\\| \`${alert}\` +\\|`));
  }
});

test('a repair that is logged is counted', async () => {
  const counted = async () =>
    /^frontage_repairs_total\{repair="of this test"\} (\d+)/m.exec(await renderMetrics())?.[1];
  const log = createLogger(readConfig({ FRONTAGE_SECRET: 'x'.repeat(32), FRONTAGE_LOG_LEVEL: 'error' }), 'test');
  log.error({ repair: 'of this test' }, 'something was repaired');
  log.child({ part: 'one' }).error({ repair: 'of this test' }, 'and again');
  expect(await counted()).toBe('2');
});

test('a process reports its health, and metrics are 503 if the database is silent', async () => {
  let isReady = true;
  const render = () => Promise.reject(new Error('no database'));
  const server = await startMetricsServer({ metrics, log: quiet, render, isReady: () => isReady });
  onTestFinished(() => server.close());
  const ask = async (path: string) => (await fetch(`http://127.0.0.1:${server.port}${path}`)).status;
  expect([await ask('/healthz'), await ask('/readyz'), await ask('/metrics'), await ask('/')]).toEqual([
    200, 200, 503, 404,
  ]);
  isReady = false;
  expect(await ask('/readyz')).toBe(503);
});

/** Two entries, a mail and a publish that wait, and two certificates. */
async function addWhatWaits(): Promise<void> {
  const entry = `insert into outbox (id, kind, workflow_id, message, created_at, sent_at, attempts) values ($1, 'signal', $1, '{}', $2, $3, 0)`;
  await db.query(entry, ['a', ago(90), null]);
  await db.query(entry, ['b', ago(30), null]);
  await db.query(entry, ['c', ago(500), now]);
  await db.query(
    `insert into mail (id, kind, status, sealed, created_at) values ($1, 'sign_in', 'queued', '\\x00', $2)`,
    [newId('mail'), ago(3700)],
  );
  for (const days of [40, 12]) await addCertificate(null, days);
  const [account, site] = [await addAccount(), newId('site')];
  await db.query(
    `insert into site (id, account_id, name, title, template, status, public_id, created_at)
     values ($1, $2, 'shop', 'Shop', 'blank', 'active', $3, $4)`,
    [site, account, newPublicId(), now],
  );
  await db.query(
    `insert into deployment (id, site_id, number, kind, status, ticket, site_url, created_by_id, created_at)
     values ($1, $2, 1, 'site', 'queued', 1, 'http://shop.sites.test', $3, $4)`,
    [newId('dep'), site, account, ago(700)],
  );
}

async function addAccount(): Promise<string> {
  const id = newId('acct');
  const add = `insert into account (id, name, email, created_at) values ($1, 'Ada', $1 || '@example.test', $2)`;
  await db.query(add, [id, now]);
  return id;
}

/** A certificate of these days, of a domain or of ours. */
async function addCertificate(domain: string | null, days: number): Promise<void> {
  await db.query(
    `insert into certificate (id, domain_id, name, status, chain, sealed_key, not_before, not_after, renew_at, created_at, refusals, looks)
     values ($1, $2, $1, 'active', 'pem', '\\x00', $3, $4, $4, $3, 0, 0)`,
    [newId('cert'), domain, now, ago(-days * 86_400)],
  );
}

async function addDomain(account: string, status: string, days: number): Promise<string> {
  const id = newId('dom');
  await db.query(
    `insert into domain (id, account_id, name, registrable, mode, status, status_since, proof, pair, proved_at, created_at, next_check_at, block_reason)
     values ($1, $2, $3, $3, 'cname', $4, $5, $1, $1, $5, $5, $5, $6)`,
    [
      id,
      account,
      `${status}-${account.slice(5)}.test`.toLowerCase(),
      status,
      now,
      status === 'Blocked' ? 'abuse' : null,
    ],
  );
  await addCertificate(id, days);
  return id;
}
