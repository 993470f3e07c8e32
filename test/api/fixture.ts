/** The API on a free port, with a database and folders of its own, and callers with tokens. */
import { rm } from 'node:fs/promises';
import pino from 'pino';
import { openAccount } from '#api/accounts/rules.ts';
import type { Api } from '#api/api.ts';
import { buildApp } from '#api/app.ts';
import { issueToken } from '#api/tokens/rules.ts';
import { recordBuilderPresence } from '#db/deployments/builder-capacity.ts';
import type { Limits } from '#rules/limit-names.ts';
import { limitsOf } from '#rules/plan-limits.ts';
import { systemClock } from '#runtime/clock.ts';
import { type Config, readConfig } from '#runtime/config.ts';
import { createDeps } from '#runtime/deps.ts';
import type { ErrorBody } from '#runtime/errors.ts';
import { withContextFields } from '#runtime/log.ts';
import { createTestDatabase, makeFolder, temporalAddress } from '#test/stack/database.ts';

// biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer is what it asserts.
type Json = any;
export type Answer = { status: number; headers: Headers; body: Json; text: string };
export type Sent = { body?: unknown; raw?: string | Buffer; headers?: Record<string, string> };
export type Call = (method: string, path: string, sent?: Sent) => Promise<Answer>;
export type Caller = { accountId: string; token: string; call: Call };
export type Logged = {
  level: number;
  msg: string;
  err?: { message: string; stack: string };
  operation?: string;
  mailId?: string;
  reqId?: string;
  activity?: string;
  attempt?: number;
  workflowId?: string;
};

/** A worker that was there once. */
export const builder = { id: 'test', sandbox: 'docker', slots: 1000 };

export async function createFixture(
  env: Record<string, string> = {},
  { builders = true, limits = {} }: { builders?: boolean; limits?: Partial<Limits> } = {},
) {
  const dir = await makeFolder('frontage-api-');
  const database = await createTestDatabase();
  const usual = readConfig({
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporalAddress(),
    FRONTAGE_DATA: dir,
    FRONTAGE_SECRET: 'a secret of the tests, long enough',
    FRONTAGE_RATE_SCALE: '1000',
    ...env,
  });
  const config = withLimits(usual, limits);
  let aheadMs = 0;
  const clock = { now: () => new Date(Date.now() + aheadMs) };
  const logged: Logged[] = [];
  /** Those that no contract error explains. */
  const failures: Logged[] = [];
  function write(line: string): void {
    const entry: Logged = JSON.parse(line);
    logged.push(entry);
    if (entry.level >= 50 && entry.msg === 'unexpected failure') failures.push(entry);
  }
  const log = pino({ level: 'info', ...withContextFields }, { write });
  const running: { app: Api; url: string; close(): Promise<void> }[] = [];

  /** Starts one more API process on the same database. */
  async function start(options: { lockTimeoutMs?: number } = {}) {
    const deps = createDeps(config, { name: 'api', clock, log, ...options });
    const app = await buildApp(deps);
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    const close = () => app.close().then(() => deps.close());
    running.push({ app, url, close });
    return { app, url, deps };
  }

  const { app, url, deps } = await start();
  // No worker runs here; publishes wait for one that was there.
  if (builders) await recordBuilderPresence(deps.em(), clock, builder);
  let accounts = 0;

  /** Opens an account with one token. */
  async function newCaller(base = url): Promise<Caller> {
    const name = `Owner ${++accounts}`;
    const account = await openAccount(deps.em(), clock, { email: `owner${accounts}@example.com`, name });
    const { secret } = await issueToken(deps.em(), clock, account.id, { name: 'first' });
    return { accountId: account.id, token: secret, call: callWith(base, secret) };
  }

  return {
    app,
    url,
    deps,
    config,
    clock,
    database,
    logged,
    start,
    newCaller,
    skip: (ms: number) => {
      aheadMs += ms;
    },
    /** A test that makes the API fail unexpectedly takes the failures here. */
    takeUnexpected: () => failures.splice(0),
    /** Throws if the API failed unexpectedly and no test took the failure. */
    async close() {
      await Promise.all(running.map((one) => one.close()));
      await database.drop();
      await rm(dir, { recursive: true, force: true });
      const lines = failures.map(({ reqId, err }) => `${reqId} ${err?.stack}`);
      if (lines.length > 0) throw new Error(`the API failed unexpectedly:\n${lines.join('\n')}`);
    },
  };
}
export type Fixture = Awaited<ReturnType<typeof createFixture>>;

/** The configuration with these limits on every plan. */
export function withLimits(config: Config, limits: Partial<Limits>): Config {
  const plans = config.plans.map((plan) => ({ ...plan, limits: { ...plan.limits, ...limits } }));
  return { ...config, plans: plans as unknown as Config['plans'] };
}

/** The limits of everybody, where nothing is metered. */
export const limitsIn = (config: Config): Limits => limitsOf(config, {}, systemClock.now());

/** Calls with a token, or without one. */
export function callWith(base: string, token?: string): Call {
  return async (method, path, { body, raw, headers = {} } = {}) => {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const answer = await fetch(`${base}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(payload === undefined ? {} : { body: payload as string }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.startsWith('application/json');
    return { status: answer.status, headers: answer.headers, text, body: isJson ? JSON.parse(text) : undefined };
  };
}

/** The error of an answer, after checking that the body is the contract's. */
export function errorOf({ body, status, text }: Answer): ErrorBody {
  const { error } = body ?? {};
  const keys = Object.keys(body ?? {});
  const wellFormed =
    status >= 400 &&
    keys.length === 1 &&
    typeof error?.code === 'string' &&
    typeof error.message === 'string' &&
    error.message.length > 0 &&
    typeof error.retryable === 'boolean' &&
    Object.keys(error).every((key) =>
      ['code', 'message', 'retryable', 'next_action', 'request_id', 'detail'].includes(key),
    );
  if (!wellFormed) throw new Error(`not the contract's error body: ${status} ${text.slice(0, 300)}`);
  return error;
}

let names = 0;
/** A name that no other site of the test has. */
export const freeName = () => `site-${process.pid}-${++names}`;

export async function createSite(caller: Caller, input: Record<string, unknown> = {}) {
  const { status, body, text } = await caller.call('POST', '/v1/sites', {
    body: { name: freeName(), title: 'A site', ...input },
  });
  if (status !== 200) throw new Error(`no site was made: ${text}`);
  return body;
}
