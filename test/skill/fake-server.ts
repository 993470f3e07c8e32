/** The terminal client with a fake server and an empty home, which `useFakeServer` makes for a test file. */
import { type ExecFileException, execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { useBundledClient } from './bundled-client.ts';

export let client = '';

/** What the server answers, by method and path, given what it was sent: JSON, or text of another type. */
export let answers: Record<string, (body: Record<string, unknown>) => [status: number, body: unknown, type?: string]> =
  {};
/** Sent with every response, where it is set. */
export const sent = { requestId: '' };
async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const received = await text(request);
  const { requestId } = sent;
  const [status, body, type = 'application/json'] = answers[`${request.method} ${request.url}`]?.(
    received ? JSON.parse(received) : {},
  ) ?? [404, {}];
  const headers = { 'content-type': type, ...(requestId ? { 'x-request-id': requestId } : {}) };
  response.writeHead(status, headers).end(type === 'application/json' ? JSON.stringify(body) : body);
}
export const refusal = (status: number, code: string): [number, unknown] => [
  status,
  { error: { code, message: 'No.', retryable: false } },
];
export let url = '';
export let home = '';

/** Starts the server for the tests of the file that calls this, with a new home and the usual answers for each test. */
export function useFakeServer(): void {
  client = useBundledClient();
  const server = createServer((request, response) => void respond(request, response));
  const folders: string[] = [];
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'frontage-terminal-'));
    folders.push(home);
    const list = { get: { operationId: 'site.list', summary: 'List', responses: {} } };
    answers = {
      'GET /openapi.json': () => [200, { paths: { '/v1/sites': list }, components: { schemas: {} } }],
      'GET /v1/sites': () => [200, { items: [], next_cursor: null }],
      'GET /v1/account': () => [200, { id: 'acct_x' }],
      'POST /v1/auth/requests': () => [
        200,
        { id: 'areq_x', user_code: 'ABCD', secret: 's', interval_seconds: 1, expires_at: '2099-01-01T00:00:00Z' },
      ],
    };
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
  });
}

export function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, HOME: home, XDG_CONFIG_HOME: home, XDG_CACHE_HOME: home, FRONTAGE_URL: url };
}

type Ran = { exit: number; out: string; err: string };
export function run(
  args: string[],
  { input = '', env = {} }: { input?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Ran> {
  return new Promise((resolve) => {
    const end = (error: ExecFileException | null, out: string, err: string) =>
      resolve({ exit: error ? Number(error.code) : 0, out, err });
    execFile(process.execPath, [client, ...args], { cwd: home, env: { ...environment(), ...env } }, end).stdin?.end(
      input,
    );
  });
}
