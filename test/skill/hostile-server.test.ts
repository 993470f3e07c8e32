/** The terminal client against a hostile server: what it prints, sends, writes and starts. */
import { type ExecFileException, execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { useBundledClient } from './bundled-client.ts';

const client = useBundledClient();
const token = 'fro_the_token_of_the_owner';
const folders: string[] = [];

type Answering = (request: IncomingMessage, response: ServerResponse) => void;
async function listen(answering: Answering) {
  const server = createServer(answering);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, close: () => server.closeAllConnections() ?? server.close() };
}

let answers: Record<string, Answering> = {};
const heard: IncomingMessage[] = [];
const evil = await listen((request, response) => {
  const answering = answers[`${request.method} ${(request.url ?? '').split('?')[0]}`];
  if (answering) answering(request, response);
  else response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
});
const elsewhere = await listen((request, response) => {
  heard.push(request);
  if (request.url === '/openapi.json') send(description('site.list'))(request, response);
  else send({ items: [] })(request, response);
});
afterAll(async () => {
  evil.close();
  elsewhere.close();
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
});

const send =
  (body: unknown, status = 200): Answering =>
  (_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
const operation = (operationId: string) => ({ operationId, summary: 'Do \u001b[2Jit', responses: {} });
const description = (...ids: string[]) => ({
  paths: Object.fromEntries(ids.map((id) => [`/v1/${id}`, { get: operation(id) }])),
  components: { schemas: {} },
});

let home = '';
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'frontage-hostile-'));
  folders.push(home);
  answers = { 'GET /openapi.json': send(description('site.list')) };
  heard.length = 0;
});

type Ran = { exit: number; out: string; err: string };
function run(args: string[], { input = '', path = process.env.PATH } = {}): Promise<Ran> {
  const env = {
    PATH: path,
    HOME: home,
    XDG_CONFIG_HOME: home,
    XDG_CACHE_HOME: home,
    FRONTAGE_TOKEN: token,
    FRONTAGE_URL: evil.url,
  };
  return new Promise((resolve) => {
    const end = (error: ExecFileException | null, out: string, err: string) =>
      resolve({ exit: error ? Number(error.code) : 0, out, err });
    execFile(process.execPath, [client, ...args], { cwd: home, env, maxBuffer: 2 ** 28 }, end).stdin?.end(input);
  });
}
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not come through.
const commanding = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

test('no redirect is followed: token and body stay on the server', async () => {
  for (const status of [301, 302, 303, 307, 308])
    for (const method of ['GET /v1/site.list', 'POST /v1/auth/requests']) {
      answers[method] = (_request, response) => response.writeHead(status, { location: `${elsewhere.url}/take` }).end();
    }
  expect(await run(['site', 'list'])).toMatchObject({
    exit: 1,
    err: expect.stringContaining('responded with status 308'),
  });
  expect((await run(['login', '--email', 'a@example.com', '--no-wait'])).exit).toBe(1);
  expect(heard).toEqual([]);
});

test('a token from the environment goes to its own server alone', async () => {
  await run(['site', 'list', '--url', elsewhere.url]);
  expect(heard.map(({ url }) => url)).toContain('/v1/site.list');
  expect(heard.map(({ headers }) => headers.authorization)).not.toContain(`Bearer ${token}`);
});

test('server texts and codes send no control characters to the terminal', async () => {
  const words = 'a\u001b]0;owned\u0007\u009b2J\u202eb\r\n';
  answers['GET /v1/site.list'] = send({ items: [{ id: words, name: words, [words]: words }], next_cursor: words });
  const refusal = { code: words, message: words, retryable: false, next_action: words, detail: words };
  answers['GET /v1/sites'] = send({ error: refusal }, 400);
  answers['POST /v1/auth/requests'] = send({
    id: 'areq_x',
    user_code: words,
    secret: 's',
    interval_seconds: 1e9,
    expires_at: '2099-01-01T00:00:00Z',
  });
  answers['POST /v1/auth/requests/areq_x/redeem'] = send({ status: 'pending' });
  for (const args of [
    ['site', 'list'],
    ['site', 'list', '--json'],
    ['publish', words],
    ['publish', 'x'],
    ['publish', 'x', '--json'],
    ['site', 'list', '--help'],
    ['--help'],
    ['login', '--email', 'a@example.com', '--no-wait'],
    ['login', '--email', 'a@example.com', '--no-wait', '--json'],
  ]) {
    const { out, err } = await run(args);
    expect(out + err).not.toBe('');
    expect([args, commanding.exec(out + err)]).toEqual([args, null]);
  }
});

test('an endless response is aborted, and a non-JSON one is reported', async () => {
  const chunk = Buffer.alloc(1024 * 1024, 0x20);
  answers['GET /v1/site.list'] = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const go = () => {
      while (!response.destroyed && response.write(chunk));
      if (!response.destroyed) response.once('drain', go);
    };
    go();
  };
  expect(await run(['site', 'list'])).toMatchObject({ exit: 1, err: expect.stringContaining('too large') });
  answers['GET /v1/site.list'] = (_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('<html>');
  expect(await run(['site', 'list'])).toMatchObject({
    exit: 1,
    err: '✗ The response is not from a Frontage server.\n',
  });
});

test('a skill with paths outside the folder is not written', async () => {
  for (const path of ['../out.md', '/etc/frontage-out.md', 'a/../../out.md']) {
    answers['GET /skill/'] = send({ version: 'v', files: [{ path, bytes: 1, sha256: '' }] });
    expect(await run(['skill', '--into', 'skill'])).toMatchObject({
      exit: 1,
      err: expect.stringContaining('outside the folder'),
    });
  }
  expect(readdirSync(home)).not.toContain('out.md');
  expect(existsSync('/etc/frontage-out.md')).toBe(false);
});

test('shell completion executes nothing from the server', async () => {
  answers['GET /openapi.json'] = send(
    description('site.list', '$(touch owned).x', 'a"; touch owned; ".x', 'x.`touch owned`', 'x.y z'),
  );
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { exit, out } = await run(['completion', shell]);
    expect([exit, out.includes('touch')]).toEqual([0, false]);
    expect(out).toContain('site');
  }
});

test('a clone uses that server’s repositories alone, and git gets no token', async () => {
  const bin = join(home, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'git'), `#!/bin/sh\nprintf '%s\\n' "$@" >> ${join(home, 'argv')}\n`, { mode: 0o755 });
  const path = `${bin}:${process.env.PATH}`;
  const site = (source: string, name = 'shop') => ({
    id: 'site_x',
    name,
    address: 'http://x',
    git: { source, content: source },
  });
  for (const source of [
    'ext::sh -c touch% owned',
    'file:///etc',
    `${elsewhere.url}/git/x.git`,
    `${evil.url}.example/git/x`,
  ]) {
    answers['GET /v1/sites/site_x'] = send(site(source));
    expect(await run(['clone', 'site_x'], { path })).toMatchObject({
      exit: 1,
      err: expect.stringContaining('does not host the site’s repositories'),
    });
  }
  answers['GET /v1/sites/site_x'] = send(site(`${evil.url}/git/site_x.git`, '../../.ssh'));
  expect((await run(['clone', 'site_x'], { path })).exit).toBe(2);
  expect(existsSync(join(home, 'argv'))).toBe(false);
  answers['GET /v1/sites/site_x'] = send(site(`${evil.url}/git/site_x.git`));
  expect((await run(['clone', 'site_x'], { path })).exit).toBe(0);
  expect(readFileSync(join(home, 'argv'), 'utf8')).toContain(`${evil.url}/git/site_x.git`);
  expect(readFileSync(join(home, 'argv'), 'utf8')).not.toContain(token);
});

test('git gets a password for that server’s repositories alone', async () => {
  const asked = (url: string, path: string) => {
    const { protocol, host } = new URL(url);
    return run(['git-credential', 'get'], { input: `protocol=${protocol.slice(0, -1)}\nhost=${host}\npath=${path}\n` });
  };
  answers['POST /v1/sites/site_x/git-credentials'] = send({ username: 'u', password: 'p\nhost=evil' });
  expect(await asked(elsewhere.url, 'git/site_x.git')).toEqual({ exit: 0, out: '', err: '' });
  expect(await asked(evil.url, 'other/site_x.git')).toEqual({ exit: 0, out: '', err: '' });
  expect((await asked(evil.url, 'git/site_x.git')).out).toBe('');
  answers['POST /v1/sites/site_x/git-credentials'] = send({ username: 'u', password: 'p' });
  expect((await asked(evil.url, 'git/site_x.git')).out).toBe('username=u\npassword=p\n');
  expect(heard).toEqual([]);
});

test('an invalid address is not opened', async () => {
  for (const address of ['file:///etc/passwd', '--help', 'http://x/$(touch owned)', 'javascript:alert(1)']) {
    answers['GET /v1/sites/site_x'] = send({ id: 'site_x', name: 'x', address });
    expect(await run(['open', 'site_x'])).toMatchObject({ exit: 1, out: '' });
  }
});

test('the token file is private, even if it was readable before', async () => {
  mkdirSync(join(home, 'frontage'));
  const file = join(home, 'frontage', 'config.json');
  writeFileSync(file, '{"servers": null}');
  chmodSync(file, 0o644);
  answers['POST /v1/auth/requests'] = send({
    id: 'areq_x',
    user_code: 'C',
    secret: 's',
    interval_seconds: 1,
    expires_at: '2099-01-01T00:00:00Z',
  });
  answers['POST /v1/auth/requests/areq_x/redeem'] = send({ status: 'approved', access_token: token });
  answers['GET /v1/account'] = send({ id: 'acct_x' });
  const { exit, out, err } = await run(['login', '--email', 'a@example.com']);
  expect([exit, `${out}${err}`.includes(token)]).toEqual([0, false]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(file, 'utf8')).servers[evil.url].token).toBe(token);
  expect(readdirSync(join(home, 'frontage'))).toEqual(['config.json']);
});
