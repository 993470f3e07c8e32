/** The running system for acceptance tests, which use it over the network alone. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { inject } from 'vitest';
import { type Answer, type Call, callApi } from '#tools/local/client.ts';
import { openAccount } from '#tools/local/owner.ts';
import { prepareSandbox } from '#tools/local/services/sandbox-image.ts';
import { type Stack, type StackOptions, startStack } from '#tools/local/stack.ts';
import { followed } from './following.ts';
import { pathOf } from './requirements.ts';

export type Owner = { accountId: string; email: string; token: string };

/** Where a stack is, as data that can be handed to test processes. */
export type StackAddress = Pick<
  Stack,
  | 'dataDir'
  | 'baseUrl'
  | 'edgeUrl'
  | 'baseDomain'
  | 'databaseUrl'
  | 'temporalAddress'
  | 'temporalUiUrl'
  | 'mailUrl'
  | 'registrarUrl'
  | 'env'
> & { owner: Owner };

export type Visit = { status: number; headers: IncomingHttpHeaders; body: Buffer; text: string };

export type TestStack = StackAddress & {
  /** A call with the owner's token, unless another is given; `token: null` sends none. */
  api(path: string, call?: Omit<Call, 'token'> & { token?: string | null }): Promise<Answer>;
  /** What a visitor of this site gets from the edge. Redirects are not followed. */
  visit(
    siteName: string,
    path: string,
    options?: { method?: string; headers?: Record<string, string> },
  ): Promise<Visit>;
  /** Another account with a token of its own. */
  openOwner(): Promise<Owner>;
};

/** Its sandbox image is the one of all tests of this clone, which takes long to make. */
const clone = join(import.meta.dirname, '../../.frontage');

/** The one stack that all acceptance tests of a run share: take sites and accounts of your own in it. */
export function useStack(): TestStack {
  return withCalls(inject('stack'));
}

export type OwnStack = TestStack & Pick<Stack, 'pid' | 'kill' | 'restart' | 'stop' | 'killAll'>;

/** A stack for one test file, which may kill its parts. Must be stopped by whoever started it. */
export async function startOwnStack(options: Partial<StackOptions> = {}): Promise<OwnStack> {
  const { stack, address } = await startTestStack(
    inject('runFolder'),
    `own-${randomBytes(6).toString('hex')}`,
    options,
  );
  const removing = (end: () => Promise<void>) => async () => {
    await end();
    rmSync(stack.dataDir, { recursive: true, force: true, maxRetries: 10 });
  };
  const { pid, kill, restart } = stack;
  return { ...withCalls(address), pid, kill, restart, stop: removing(stack.stop), killAll: removing(stack.killAll) };
}

/**
 * Starts a stack in the run's folder, with the sandbox's image of this clone. No sandbox is started ahead unless a test asks for that: each builds a site to be warm, and a test run publishes too seldom for that to pay.
 */
export async function startTestStack(runFolder: string, name: string, options: Partial<StackOptions> = {}) {
  const dataDir = join(runFolder, name);
  const sandbox = join(clone, 'sandbox');
  // Builds pass through it to the image.
  mkdirSync(clone, { recursive: true, mode: 0o711 });
  for (const folder of [dataDir, sandbox]) mkdirSync(folder, { recursive: true });
  symlinkSync(sandbox, join(dataDir, 'sandbox'));
  const env = { FRONTAGE_WARM_SANDBOXES: '0', ...(await sandboxEnv()), ...options.env };
  const prepare = async () => {
    await prepareSandbox(clone, { ...process.env, ...env }, () => {});
    return {};
  };
  const stack = await startStack({ durable: false, prepare, ...options, env, dataDir });
  try {
    const { baseUrl, edgeUrl, baseDomain, databaseUrl, temporalAddress, temporalUiUrl, mailUrl, registrarUrl, env } =
      stack;
    const where = { dataDir, baseUrl, edgeUrl, baseDomain, databaseUrl, temporalAddress, temporalUiUrl, mailUrl };
    const address: StackAddress = { ...where, registrarUrl, env, owner: await openOwner(env) };
    return { stack, address };
  } catch (error) {
    await stack.killAll();
    throw error;
  }
}

/** Without any sandbox, builds of these tests run unprotected: their sites are our own. */
export async function sandboxEnv(): Promise<{ FRONTAGE_SANDBOX?: string }> {
  const hasSandbox = (await pathOf('docker')) || (await pathOf('bubblewrap')) || (await pathOf('namespaces'));
  return hasSandbox ? {} : { FRONTAGE_SANDBOX: 'none-run-builds-unprotected' };
}

async function openOwner(env: NodeJS.ProcessEnv): Promise<Owner> {
  const email = `owner-${randomBytes(6).toString('hex')}@example.com`;
  const { account_id, access_token } = await openAccount(env, email, 'Test Owner');
  return { accountId: account_id, email, token: access_token };
}

function withCalls(address: StackAddress): TestStack {
  return {
    ...address,
    async api(path, { token, ...call } = {}) {
      const as = token === null ? undefined : (token ?? address.owner.token);
      const answer = await callApi(address.baseUrl, path, { ...call, token: as });
      const waits = call.headers?.prefer?.startsWith('wait');
      return waits ? await followed(path, answer, (at) => callApi(address.baseUrl, at, { token: as })) : answer;
    },
    visit: (siteName, path, options = {}) => visit(address, siteName, path, options),
    openOwner: () => openOwner(address.env),
  };
}

/** By hand: no resolver knows `*.localhost` everywhere, and `fetch` sets no Host. */
export async function visit(
  { edgeUrl, baseDomain }: Pick<StackAddress, 'edgeUrl' | 'baseDomain'>,
  siteName: string,
  path: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Visit> {
  const { port } = new URL(edgeUrl);
  const host = `${siteName}.${baseDomain}:${port}`;
  return await new Promise((resolve, reject) => {
    const call = request({ host: '127.0.0.1', port, path, method, headers: { host, ...headers } });
    call.once('error', reject);
    call.once('response', (answer) => {
      const got = buffer(answer).then((body) => {
        return { status: answer.statusCode ?? 0, headers: answer.headers, body, text: body.toString('utf8') };
      });
      got.then(resolve, reject);
    });
    call.end();
  });
}
