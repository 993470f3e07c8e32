/**
 * HAProxy with the project's configuration, in front of a server that tells what it received.
 *
 * @module-tag haproxy
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { Agent, createServer, type IncomingHttpHeaders, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pathOf } from '#test/stack/requirements.ts';
import { until } from '#test/stack/until.ts';
import { freePort } from '#tools/local/ports.ts';

const agents = new Map<string, Agent>();
const server = createServer((received, response) => response.end(JSON.stringify(received.headers)));
let proxy: ChildProcess;
let dir: string;
let ports: { api: number; edge: number; tls: number };

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  dir = await mkdtemp(join(tmpdir(), 'frontage-balancer-'));
  ports = { api: await freePort(), edge: await freePort(), tls: await freePort() };
  await writeFile(join(dir, 'haproxy.cfg'), await hereInstead((server.address() as { port: number }).port));
  proxy = spawn(await pathOf('haproxy'), ['-db', '-f', join(dir, 'haproxy.cfg')], {
    stdio: 'ignore',
    env: { ...process.env, BASE_DOMAIN: 'sites.test' },
  });
  const status = () =>
    ask('127.0.0.2').then(
      ({ status }) => status,
      () => 0,
    );
  await until(status, (found) => found === 200, 10_000);
});
afterAll(async () => {
  for (const agent of agents.values()) agent.destroy();
  proxy?.kill('SIGKILL');
  server.close();
  if (dir) await rm(dir, { recursive: true, force: true });
});

/** For one server on this machine and free ports. A test cannot open as many connections as one address may have. */
async function hereInstead(port: number): Promise<string> {
  const whole = await readFile(join(import.meta.dirname, '../../operator/haproxy.cfg'), 'utf8');
  return whole
    .replace(/^resolvers docker\n(?: .*\n)+/m, '')
    .replace(' resolvers docker init-addr none', '')
    .replace('maxconn 20000', 'maxconn 200')
    .replaceAll('sc_conn_cur(0) gt 500', 'sc_conn_cur(0) gt 5')
    .replace('sc_conn_cur(0) gt 400', 'sc_conn_cur(0) gt 25')
    .replace('bind :4400', `bind :${ports.api}`)
    .replace('bind :4480', `bind :${ports.edge}`)
    .replace('bind :4443', `bind :${ports.tls}`)
    .replace(/server-template api .*/, `server api1 127.0.0.1:${port}`)
    .replaceAll(/server-template edge .*/g, `server edge1 127.0.0.1:${port}`);
}

/** A request to the API from this address, over a few connections that stay open. */
async function ask(from: string, headers: Record<string, string> = {}) {
  const agent = agents.get(from) ?? new Agent({ keepAlive: true, maxSockets: 20 });
  agents.set(from, agent);
  const asked = request({ port: ports.api, host: '127.0.0.1', localAddress: from, agent, headers });
  asked.end();
  const [answer] = await once(asked, 'response');
  const body = await text(answer);
  return { status: answer.statusCode, headers: answer.headers as IncomingHttpHeaders, body: JSON.parse(body) };
}

test('the API learns a client’s address from the load balancer, and no other claim', async () => {
  const claims = Object.fromEntries(
    ['For', 'Host', 'Proto', 'Port'].map((what) => [`x-forwarded-${what.toLowerCase()}`, 'evil.example']),
  );
  const { body } = await ask('127.0.0.3', {
    ...claims,
    'x-real-ip': '10.0.0.1',
    forwarded: 'for=10.0.0.1',
    host: 'a.test',
  });
  expect(Object.keys(body).filter((name) => /forwarded|real/.test(name))).toEqual(['x-forwarded-for']);
  expect(body).toMatchObject({ 'x-forwarded-for': '127.0.0.3', host: 'a.test' });
});

test('an address that sends too many requests gets 429, and others do not', async () => {
  const answers = await Promise.all(Array.from({ length: 1_050 }, () => ask('127.0.0.4')));
  const refused = answers.filter(({ status }) => status === 429);
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1_000);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]).toMatchObject({ headers: { 'retry-after': '10' }, body: { error: { code: 'rate_limited' } } });
  expect((await ask('127.0.0.5')).status).toBe(200);
});

test('idle connections of an address count too, and others get theirs', async () => {
  const held: Socket[] = [];
  let closed = 0;
  for (let count = 0; count < 27; count++) {
    const socket = connect({ port: ports.api, host: '127.0.0.1', localAddress: '127.0.0.8' });
    held.push(socket.on('error', () => {}).on('close', () => (closed += 1)));
  }
  await expect.poll(() => closed).toBe(2);
  expect((await ask('127.0.0.9')).status).toBe(200);
  for (const socket of held) socket.destroy();
});

test('an address has only so many connections to the edges, and others get theirs', async () => {
  for (const port of [ports.edge, ports.tls]) {
    const held: Socket[] = [];
    const open = async (localAddress: string) => {
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      held.push(socket);
      const closed = new Promise<'refused'>((resolve) => {
        socket.on('error', () => {}).on('close', () => resolve('refused'));
      });
      const answered = new Promise<'answered'>((resolve) => socket.once('data', () => resolve('answered')));
      socket.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n');
      return await Promise.race([closed, answered]);
    };
    const all = [];
    for (let count = 0; count < 7; count++) all.push(await open('127.0.0.6'));
    expect(all).toEqual([...Array(5).fill('answered'), 'refused', 'refused']);
    expect(await open('127.0.0.7')).toBe('answered');
    for (const socket of held) socket.destroy();
  }
});
