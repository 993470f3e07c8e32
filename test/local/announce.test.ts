/** The summary after a start offers only what works. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { describe, type Summary, writeDevFiles } from '#tools/local/announce.ts';
import type { Stack } from '#tools/local/stack.ts';
import { onlyPrograms, sudo } from './machine-programs.ts';

const stack = {
  dataDir: '/srv/data',
  baseUrl: 'http://localhost:4400',
  temporalUiUrl: 'http://localhost:4434',
  mailUrl: null,
  paymentsUrl: null,
  registrarUrl: null,
  missingForDomains: [],
} as unknown as Stack;
const live: Summary = {
  stack,
  owner: { account_id: 'acct_1', access_token: 'fro_1' },
  demo: { id: 'site_1', address: 'http://workshop.sites.localhost:4480', live_deployment_id: 'dep_1' },
  sandbox: 'docker',
  cloneUrl: 'http://git:secret@localhost:4400/git/site_1.git',
};
const notLive = { ...live, demo: { id: 'site_1', address: 'http://workshop', live_deployment_id: null } };

/** The commands under “Try next”. */
const offered = (text: string) => {
  const [, block = ''] = /Try next:\n((?: {2}.*\n)*)/.exec(text) ?? [];
  return block.trim().split(/\n */);
};

test('the demo’s address and its publish are offered only if it is live', () => {
  onlyPrograms('curl');
  expect(describe(live)).toContain('workshop.sites.localhost');
  expect(describe(live)).toContain('/account (sign in as owner@example.com)');
  expect(offered(describe(live))).toHaveLength(3);
  expect(describe({ ...notLive, sandbox: undefined })).not.toContain('http://workshop');
  expect(offered(describe({ ...notLive, sandbox: undefined })).join()).not.toContain('/publish');
  expect(offered(describe({ ...live, sandbox: undefined })).join()).not.toContain('/publish');
});

test('commands use options of every curl, or the client where curl is missing', () => {
  onlyPrograms('curl');
  expect(offered(describe(live))[2]).toBe(
    `curl -s -H 'authorization: Bearer fro_1' -H 'content-type: application/json' -d '{"scope":"site"}' http://localhost:4400/v1/sites/site_1/publish`,
  );
  onlyPrograms('git');
  const client = 'FRONTAGE_URL=http://localhost:4400 FRONTAGE_TOKEN=fro_1 node skill/bin/frontage.mjs';
  expect(offered(describe(live))).toEqual([
    `${client} site list`,
    `git clone ${live.cloneUrl} workshop`,
    `${client} publish site_1`,
  ]);
});

test('missing programs are one line with the command of this system', () => {
  onlyPrograms('curl', 'sudo', 'apt-get');
  const text = describe({ ...live, stack: { ...stack, missingForDomains: ['powerdns', 'pebble'] } });
  expect(text.match(/^.*apt.*$/gm)).toEqual([
    `To try all features of custom domains: ${sudo}apt install pdns-server pdns-backend-sqlite3 pebble`,
  ]);
});

test('the summary says where sign-in links go, unless e-mails are sent', () => {
  expect(describe(live)).not.toContain('Mailbox');
  const mailUrl = 'http://localhost:4425';
  expect(describe({ ...live, stack: { ...stack, mailUrl } })).toMatch(
    /Mailbox +http:\S+ \(all e-mails, also your sign-in links/,
  );
});

test('the summary says that builds have no sandbox', () => {
  onlyPrograms('curl');
  expect(describe({ ...live, sandbox: 'unprotected' })).toMatch(/Builds +without a sandbox/);
});

test('Node reads each setting of the file env as it was', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'frontage-env-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const env = { FRONTAGE_DATA: `/srv/# a'b"c`, FRONTAGE_PLANS: '{"plans":[]}', FRONTAGE_SMTP_URL: 'smtp://a\\nb' };
  writeDevFiles({ ...stack, dataDir, env, ports: {} } as unknown as Stack, live.owner, undefined);
  const print =
    'const { FRONTAGE_DATA, FRONTAGE_PLANS, FRONTAGE_SMTP_URL } = process.env; console.log(JSON.stringify({ FRONTAGE_DATA, FRONTAGE_PLANS, FRONTAGE_SMTP_URL }))';
  const read = execFileSync(process.execPath, [`--env-file=${join(dataDir, 'env')}`, '-e', print], {
    encoding: 'utf8',
    env: {},
  });
  expect(JSON.parse(read)).toEqual(env);
});
