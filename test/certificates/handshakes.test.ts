/**
 * Handshakes: their cost, and what they accept.
 * @module-tag pebble
 * @module-tag powerdns
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CertificatesDatabase } from '#edge/http/certificates-database.ts';
import { encrypt } from '#runtime/encryption.ts';
import { newId } from '#runtime/ids.ts';
import { page } from '#test/edge/shops.ts';
import { startEdgeProcess } from '#test/edge/spawn.ts';
import { pathOf } from '#test/stack/requirements.ts';
import { freePort } from '#tools/local/ports.ts';
import { baseDomain, type CertificateFixture, createFixture } from './fixture.ts';
import { giveCertificate } from './given.ts';
import { createIssuer, type Issuer } from './issuer.ts';
import { shake } from './visit.ts';

const known = 10_000;
const run = promisify(execFile);
const nameOf = (number: number) => `n${number}.many.test`;

let fixture: CertificateFixture;
let issuer: Issuer;
let edge: Awaited<ReturnType<CertificateFixture['openTlsEdge']>>;
let asked: string[] = [];
const counted = (database: CertificatesDatabase): CertificatesDatabase => ({
  ...database,
  certificateOf(name) {
    asked.push(name);
    return database.certificateOf(name);
  },
});

beforeAll(async () => {
  fixture = await createFixture();
  issuer = await createIssuer(new Date());
  await addMany();
  await giveCertificate(fixture, issuer, { name: `*.${baseDomain}` });
  await fixture.publish('shop', { 'index.html': page('Front') });
  edge = await fixture.openTlsEdge({ through: counted });
});
afterAll(() => fixture?.close());

/** One certificate under many names: what is asked of the database is the same. */
async function addMany(): Promise<void> {
  const since = new Date(Date.now() - 60_000);
  const { chain, key } = await issuer.make(['many.test'], since);
  const ids = Array.from({ length: known }, () => newId('cert'));
  const [account] = (await fixture.db.query('select id from account')).rows;
  await fixture.db.query(
    `insert into domain (id, account_id, name, registrable, mode, status, status_since, proof, pair, created_at, next_check_at)
     select 'dom_' || n, $1, 'n' || n || '.many.test', 'many.test', 'cname', 'pending', $2::timestamptz, 'proof' || n, 'pair' || n, $2, $2
     from generate_series(0, $3 - 1) n`,
    [account.id, since, known],
  );
  await fixture.db.query(
    `insert into certificate (id, domain_id, name, status, chain, sealed_key, not_before, not_after, renew_at, healthy_since, created_at)
     select id, 'dom_' || n - 1, 'n' || n - 1 || '.many.test', 'active', $3, decode(sealed, 'hex'), $4, $5, $5, $4, $4
     from unnest($1::text[], $2::text[]) with ordinality as made(id, sealed, n)`,
    [
      ids,
      ids.map((id) => encrypt(fixture.config.encryptionKeys, key, `certificate:${id}`).toString('hex')),
      chain,
      since,
      new Date(since.getTime() + 90 * 86_400_000),
    ],
  );
}

async function questionsOf(...servernames: string[]): Promise<string[]> {
  asked = [];
  for (const servername of servernames)
    await shake({ port: edge.tlsPort, servername, rejectUnauthorized: false }).then(
      (socket) => socket.destroy(),
      () => {},
    );
  return asked;
}

describe(`with ${known} certificates known`, () => {
  test('a handshake for a known name costs no query, another costs one', async () => {
    expect(await questionsOf(nameOf(1))).toEqual([nameOf(1)]);
    expect(await questionsOf(nameOf(1), nameOf(1).toUpperCase(), nameOf(1))).toEqual([]);
    expect(await questionsOf(nameOf(known - 1), nameOf(2))).toEqual([nameOf(known - 1), nameOf(2)]);
  });

  test('all hosts below the base domain cost one query together', async () => {
    expect(await questionsOf(`shop.${baseDomain}`, `other.${baseDomain}`, baseDomain)).toEqual([`*.${baseDomain}`]);
  });

  test('concurrent handshakes for one name cost one query', async () => {
    asked = [];
    const shaken = Array.from({ length: 40 }, () =>
      shake({ port: edge.tlsPort, servername: nameOf(5), rejectUnauthorized: false }),
    );
    for (const socket of await Promise.all(shaken)) socket.destroy();
    expect(asked).toEqual([nameOf(5)]);
  });

  test('an unknown name costs one query and is remembered, an invalid name costs none', async () => {
    expect(await questionsOf('nobody.test', 'nobody.test')).toEqual(['nobody.test']);
    expect(await questionsOf('localhost', `a.b.${baseDomain}`.repeat(20), 'under score.test', '127.1.test.')).toEqual(
      [],
    );
    await giveCertificate(fixture, issuer, { name: 'nobody.test', domainId: await fixture.addDomain('nobody.test') });
    await expect.poll(() => questionsOf('nobody.test')).toEqual(['nobody.test']);
    expect(await questionsOf('nobody.test')).toEqual([]);
  });

  test('a certificate is found by an index', async () => {
    const { rows } = await fixture.db.query(
      `explain select id from certificate where name = 'n1.many.test' and chain is not null order by not_after desc limit 1`,
    );
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('Index');
  });
});

test('requests for many unknown names do not delay visitors', async () => {
  const { siteId } = await fixture.publish('served', { 'index.html': page('Served') });
  const domainId = await fixture.addDomain('served.test', { siteId, isPrimary: true });
  await giveCertificate(fixture, issuer, { name: 'served.test', domainId });
  const slow = await fixture.openTlsEdge({
    ports: { http: 0, tls: 0 },
    through: (database) => ({
      ...database,
      certificateOf: (name) => (name.startsWith('stranger') ? new Promise(() => {}) : database.certificateOf(name)),
    }),
  });
  const to = (servername: string) => shake({ port: slow.tlsPort, servername, rejectUnauthorized: false });
  const refused = Array.from({ length: 120 }, (_, n) => to(`stranger${n}.test`).catch(() => 'refused'));
  await Promise.race(refused);
  (await to('served.test')).destroy();
  expect(await Promise.race(refused)).toBe('refused');
});

test('a certificate issued during its query is not hidden by an empty result', async () => {
  const { promise: back, resolve: comeBack } = Promise.withResolvers<void>();
  const told = Promise.withResolvers<void>();
  const heard = Promise.withResolvers<void>();
  let isSlow = true;
  const other = await fixture.openTlsEdge({
    ports: { http: 0, tls: 0 },
    through: (database) => ({
      ...database,
      async certificateOf(name) {
        const row = await database.certificateOf(name);
        if (name !== 'late.test' || !isSlow) return row;
        told.resolve();
        await back;
        return row;
      },
      async changedSince(mark) {
        const answer = await database.changedSince(mark);
        if (answer.names.includes('late.test')) setTimeout(heard.resolve, 20);
        return answer;
      },
    }),
  });
  const to = () => shake({ port: other.tlsPort, servername: 'late.test', rejectUnauthorized: false });
  const first = to().catch(() => 'refused');
  // It has been told that there is none, and has not heard it yet.
  await told.promise;
  isSlow = false;
  await giveCertificate(fixture, issuer, { name: 'late.test', domainId: await fixture.addDomain('late.test') });
  await heard.promise;
  comeBack();
  expect(await first).toBe('refused');
  (await to()).destroy();
});

test('a session that began with one edge resumes with another', async () => {
  const other = await fixture.openTlsEdge({ ports: { http: 0, tls: 0 } });
  const first = await shake({ port: edge.tlsPort, servername: nameOf(7), rejectUnauthorized: false });
  const session = await new Promise<Buffer>((resolve) => first.once('session', resolve));
  first.destroy();
  const again = await shake({ port: other.tlsPort, servername: nameOf(7), rejectUnauthorized: false, session });
  expect(again.isSessionReused()).toBe(true);
  again.destroy();
  const elsewhere = await shake({ port: other.tlsPort, servername: nameOf(8), rejectUnauthorized: false, session });
  expect(elsewhere.isSessionReused()).toBe(false);
  elsewhere.destroy();
});

test('processes of one edge share port, certificates and tickets', async () => {
  const tlsPort = String(await freePort());
  const spawned = await startEdgeProcess(fixture, 2, {
    FRONTAGE_EDGE_TLS_PORT: tlsPort,
    FRONTAGE_SECRET: fixture.settings.FRONTAGE_SECRET,
  });
  try {
    const to = { port: Number(tlsPort), servername: nameOf(9), rejectUnauthorized: false };
    const first = await shake(to);
    const session = await new Promise<Buffer>((resolve) => first.once('session', resolve));
    first.destroy();
    for (let round = 0; round < 10; round++) {
      const again = await shake({ ...to, session });
      expect(again.isSessionReused()).toBe(true);
      again.destroy();
    }
  } finally {
    spawned.child.kill('SIGTERM');
    await spawned.exit;
  }
});

test.each([
  ['TLS 1.1', { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'ALL@SECLEVEL=0' }],
  ['a cipher without forward secrecy', { maxVersion: 'TLSv1.2', ciphers: 'AES128-GCM-SHA256' }],
  ['a cipher of blocks', { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA' }],
  ['no name', { servername: '' }],
  ['another protocol', { ALPNProtocols: ['spdy/3'] }],
] as const)('a handshake with %s is not accepted', async (_what, options) => {
  const to = { port: edge.tlsPort, servername: nameOf(1), rejectUnauthorized: false };
  await expect(shake({ ...to, ...(options as object) })).rejects.toThrow();
});

test('a scan finds no weak protocol, cipher, curve or renegotiation', {
  tags: 'sslscan',
  timeout: 60_000,
}, async () => {
  const scanner = await pathOf('sslscan');
  const args = [
    '--no-colour',
    '--no-check-certificate',
    '--xml=-',
    `--sni-name=${nameOf(1)}`,
    `127.0.0.1:${edge.tlsPort}`,
  ];
  const { stdout } = await run(scanner as string, args);
  const all = (pattern: RegExp) => Array.from(stdout.matchAll(pattern), (match) => match.slice(1));
  const enabled = all(/<protocol type="(\w+)" version="([\d.]+)" enabled="1"/g).map((one) => one.join(' '));
  expect(enabled.sort()).toEqual(['tls 1.2', 'tls 1.3']);
  const ciphers = all(/<cipher status="\w+" sslversion="(\S+)" bits="(\d+)" cipher="(\S+)"/g);
  expect(ciphers.length).toBeGreaterThanOrEqual(5);
  for (const [, bits, cipher] of ciphers) {
    expect(Number(bits), cipher).toBeGreaterThanOrEqual(128);
    expect(cipher).toMatch(/^(TLS_|ECDHE-ECDSA-)(AES(_)?(128|256)(_|-)GCM|CHACHA20)/);
  }
  expect(stdout).toMatch(/<renegotiation supported="0"/);
  const groups = all(/<group sslversion="(\S+)" bits="(\d+)" name="([^"]+)"/g);
  expect(groups.length).toBeGreaterThanOrEqual(3);
  for (const [, bits, group] of groups) expect(Number(bits), group).toBeGreaterThanOrEqual(128);
  expect(stdout).not.toMatch(/<compression supported="1"/);
  expect(all(/<heartbleed sslversion="\S+" vulnerable="(\d)"/g).flat()).not.toContain('1');
});
