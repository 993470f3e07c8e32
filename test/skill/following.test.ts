/** The terminal client while it follows long work: network gaps, the log, and the right ending. */
import { type ExecFileException, execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { pathOf } from '#test/stack/requirements.ts';
import { useBundledClient } from './bundled-client.ts';

const client = useBundledClient();
type Answering = (request: IncomingMessage, response: ServerResponse) => void;

let answers: Record<string, Answering> = {};
const heard: string[] = [];
const server = createServer((request, response) => {
  heard.push(`${request.method} ${request.url} ${request.headers['user-agent']}`);
  const answering = answers[`${request.method} ${request.url}`] ?? json({}, 404);
  answering(request, response);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const home = await mkdtemp(join(tmpdir(), 'frontage-following-'));
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(home, { recursive: true, force: true });
});

const json =
  (body: unknown, status = 200): Answering =>
  (_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
const site = { id: 'site_x', name: 'shop', address: 'http://shop.localhost' };
const deployment = (status: string) => ({ id: 'dep_x', number: 7, kind: 'site', status });
const slot = (status: string, more = {}) => ({ slot: 1, status, address: null, build_id: 'dep_x', ...more });
const events = (response: ServerResponse, ...said: string[]) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const one of said) response.write(one);
};
const log = (id: number, words: string) => `event: log\nid: ${id}\ndata: ${words}\ndata: \n\n`;
const end = 'event: end\nid: end\ndata: live\n\n';

beforeEach(() => {
  heard.length = 0;
  answers = {
    'GET /openapi.json': json({ paths: { '/v1/domains/{id}': { get: { operationId: 'domain.read' } } } }),
    'GET /v1/sites/site_x': json(site),
    'POST /v1/sites/site_x/publish': json(deployment('queued')),
    'POST /v1/sites/site_x/previews/1': json(slot('building')),
    'GET /v1/sites/site_x/previews/1': json(slot('draft', { address: 'http://p--x.localhost' })),
    'GET /v1/deployments/dep_x/log': (_request, response) => {
      events(response, log(0, 'building pages'), end);
      response.end();
    },
    'GET /v1/deployments/dep_x': json(deployment('live')),
  };
});

const env = { PATH: process.env.PATH, HOME: home, XDG_CONFIG_HOME: home, XDG_CACHE_HOME: home, FRONTAGE_URL: url };
type Ran = { exit: number; out: string; err: string };
const run = (...args: string[]): Promise<Ran> =>
  new Promise((resolve) => {
    const ended = (error: ExecFileException | null, out: string, err: string) =>
      resolve({ exit: error ? Number(error.code) : 0, out, err });
    const options = { cwd: home, env: { ...env, FRONTAGE_TOKEN: 'fro_x' } };
    execFile(process.execPath, [client, ...args], options, ended).stdin?.end();
  });

test('a preview prints its build log and address, and JSON separately', async () => {
  const { exit, out, err } = await run('preview', 'site_x');
  expect([exit, err]).toEqual([0, 'building pages\n✓ Preview slot 1 is at http://p--x.localhost\n']);
  expect(out).toContain('http://p--x.localhost');
  const program = await run('preview', 'site_x', '1', '--json');
  expect([program.exit, JSON.parse(program.out).status, program.err]).toEqual([0, 'draft', '']);
});

test('a failed preview ends with its log, the reason and exit code 1', async () => {
  const error = { code: 'build_failed', message: 'It does not build.', retryable: false, detail: 'building pages' };
  answers['GET /v1/deployments/dep_x'] = json({ ...deployment('failed'), error });
  const { exit, out, err } = await run('preview', 'site_x');
  expect([exit, out, err]).toEqual([1, '', 'building pages\n✗ It does not build. (build_failed)\n']);
});

test('a terminal shows a preview’s elapsed seconds until there is output', { tags: 'script' }, async () => {
  // script(1) makes a terminal.
  const script = await pathOf('script');
  let follower: ServerResponse | undefined;
  answers['GET /v1/deployments/dep_x/log'] = (_request, response) => {
    events(response, ': the build log\n\n');
    follower = response;
  };
  const shown = await new Promise<string>((resolve) => {
    const args = ['-qec', `'${process.execPath}' '${client}' preview site_x`, '/dev/null'];
    const terminal = execFile(script, args, { env: { ...env, FRONTAGE_TOKEN: 'fro_x' } }, (_error, out) =>
      resolve(out),
    );
    let seen = '';
    terminal.stdout?.on('data', (chunk) => {
      seen += chunk;
      if (/… 1 s/.test(seen)) follower?.end(log(0, 'building pages') + end);
    });
  });
  expect(shown.replaceAll('\r\n', '\n')).toContain(
    '… 1 s \r\u001b[Kbuilding pages\n\r\u001b[K✓ Preview slot 1 is at http://p--x.localhost\n',
  );
});

test('after a network gap a publish’s output continues after its last part', {
  timeout: 30_000,
}, async () => {
  const after: unknown[] = [];
  answers['GET /v1/deployments/dep_x/log'] = (request, response) => {
    after.push(request.headers['last-event-id']);
    if (after.length === 1) {
      events(response, log(0, 'one'));
      setImmediate(() => response.destroy());
    } else if (after.length === 2) response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway');
    else if (after.length < 8) request.socket.destroy();
    else {
      events(response, log(1, 'two'), end);
      response.end();
    }
  };
  const { exit, err } = await run('publish', 'site_x');
  expect([exit, err]).toEqual([0, 'one\ntwo\n✓ Version 7 is live: http://shop.localhost\n']);
  expect(after).toEqual([undefined, ...Array(7).fill('0')]);
});

test('log parts are printed by line, with the published site’s warnings', async () => {
  const setup = [{ type: 'A', name: 'shop.example', value: '192.0.2.1' }];
  answers['GET /v1/domains/dom_x'] = json({
    id: 'dom_x',
    setup,
    ssl: { status: 'pending' },
    problems: [],
    seen: ['a', 'b'],
  });
  const { out } = await run('domain', 'read', 'dom_x');
  const lines = out.split('\n').map((line) => line.replace(/ +/g, ' '));
  expect(lines).toEqual([
    'id dom_x',
    'setup',
    ' type A name shop.example value 192.0.2.1',
    'ssl',
    ' status pending',
    'problems –',
    'seen a, b',
    '',
  ]);
  const items = [{ kind: 'broken_link', path: '/about/', message: '/about/ links to /nothing/, which is missing.' }];
  answers['GET /v1/deployments/dep_x'] = json({ ...deployment('live'), warnings: { items } });
  expect((await run('publish', 'site_x')).err).toContain('! /about/ links to /nothing/, which is missing.\n');
});

test('a publish that a later one replaced says so', async () => {
  const next_action = 'A later version took its place. Call `frontage deployment read dep_y`.';
  answers['GET /v1/deployments/dep_x'] = json({ ...deployment('superseded'), next_action });
  const { exit, out, err } = await run('publish', 'site_x');
  expect([exit, out.replace(/ +/g, ' ')]).toEqual([1, 'id dep_x\nstatus superseded\n']);
  expect(err).toBe(`building pages\n→ ${next_action}\n`);
});

test('deployed output prints its version and address', async () => {
  const drained =
    (body: unknown): Answering =>
    (request, response) =>
      void request.resume().once('end', () => json(body)(request, response));
  answers['POST /v1/sites/site_x/deployments'] = drained(deployment('uploading'));
  answers['POST /v1/deployments/dep_x/archive'] = drained({ deployment: deployment('uploading'), left_out: [] });
  answers['POST /v1/deployments/dep_x/complete'] = drained(deployment('live'));
  const folder = join(home, 'dist');
  mkdirSync(folder);
  writeFileSync(join(folder, 'index.html'), '<h1>Shop</h1>');
  const { exit, err } = await run('deploy', 'site_x', folder);
  expect([exit, err]).toEqual([0, '✓ Version 7 is live: http://shop.localhost\n']);
});

test('a refusal ends following at once, and names the command to check again', async () => {
  answers['GET /v1/deployments/dep_x/log'] = json(
    { error: { code: 'not_found', message: 'No.', retryable: false } },
    404,
  );
  const { exit, err } = await run('publish', 'site_x');
  expect([exit, err]).toEqual([1, '✗ No. (not_found)\n→ frontage deployment read dep_x\n']);
  expect(heard.filter((call) => call.includes('/log'))).toHaveLength(1);
});

test('waiting for a person exits with 4, unfinished work with 3', async () => {
  const domain = (waiting_on: string | null) =>
    json({ id: 'dom_x', status: 'pending', waiting_on, next_action: 'Set it.' });
  for (const who of ['owner', 'operator', 'platform', null]) answers[`GET /v1/domains/${who}`] = domain(who);
  const account = { id: 'pout_x', status: 'pending', next_action: 'Open it.' };
  answers['GET /v1/domains/lacks'] = json({ ...account, waiting_for: ['a bank account'] });
  answers['GET /v1/domains/whole'] = json({ ...account, waiting_for: [] });
  answers['GET /v1/domains/stands'] = json({
    id: 'dom_x',
    status: 'active',
    waiting_on: 'owner',
    next_action: 'Attach it.',
  });
  const exits = await Promise.all(
    ['owner', 'operator', 'lacks', 'platform', 'null', 'whole', 'stands'].map(
      async (id) => (await run('domain', 'read', id, '--json')).exit,
    ),
  );
  expect(exits).toEqual([4, 4, 4, 3, 3, 3, 0]);
});

test('the client’s version is its hash, sent with each call and compared', async () => {
  const sha256 = createHash('sha256').update(readFileSync(client)).digest('hex');
  const version = sha256.slice(0, 12);
  const serve = (of: string) => json({ version: 'v', files: [{ path: 'bin/frontage.mjs', bytes: 1, sha256: of }] });
  answers['GET /skill/'] = serve(sha256);
  const newest = await run('--version');
  expect(newest).toEqual({ exit: 0, out: expect.stringContaining(`frontage ${version} (Node `), err: '' });
  expect(heard).toEqual([expect.stringContaining(` frontage-client/${version} node/`)]);
  answers['GET /skill/'] = serve('another');
  expect((await run('--version')).err).toContain(`${url}/skill/bin/frontage.mjs`);
  expect(JSON.parse((await run('--version', '--json')).out)).toMatchObject({ version, newest: false });
  answers['GET /skill/'] = json({}, 500);
  expect(await run('--version')).toMatchObject({ exit: 0, err: expect.stringContaining('Cannot tell') });
});

test('a tree is written as listed, and no truncated page', async () => {
  answers['GET /skill/'] = json({ version: 'v', files: [{ path: 'SKILL.md', bytes: 2, sha256: 'other' }] });
  answers['GET /skill/SKILL.md'] = (_request, response) => response.end('hi');
  const torn = await run('skill', '--into', 'tree');
  expect([torn.exit, torn.err]).toEqual([1, expect.stringContaining('SKILL.md does not match its hash')]);
  const chunk = Buffer.alloc(1024 * 1024, 0x61);
  answers['GET /skill/SKILL.md'] = (_request, response) => {
    const go = () => {
      while (!response.destroyed && response.write(chunk));
      if (!response.destroyed) response.once('drain', go);
    };
    go();
  };
  for (const args of [['skill'], ['skill', '--into', 'tree']])
    expect(await run(...args)).toMatchObject({ exit: 1, out: '', err: expect.stringContaining('too large') });
  expect(existsSync(join(home, 'tree', 'SKILL.md'))).toBe(false);
});
