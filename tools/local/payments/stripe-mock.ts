/** The vendor's own stateless mock server (stripe-mock), which validates the shape of every request. Optional. */
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '#tools/local/ports.ts';

export type StripeMock = {
  /** The mock's response to a request: an error about its shape, or an example. Null without a mock. */
  ask(request: { method: string; url: string; body: string }): Promise<{ status: number; body: Example } | null>;
};
type Example = { [field: string]: unknown };

/** The program in `FRONTAGE_STRIPE_MOCK`, else the one on PATH. */
export function findMock(env: NodeJS.ProcessEnv): string | undefined {
  const named = env.FRONTAGE_STRIPE_MOCK;
  const folders = (env.PATH ?? '').split(delimiter).filter(Boolean);
  return [...(named ? [named] : []), ...folders.map((folder) => join(folder, 'stripe-mock'))].find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export const noMock: StripeMock = { ask: async () => null };

/** The mock is older than our client: fields that were renamed since have their old names there. */
const withOldNames = (body: string) => body.replaceAll('allowed_payment_method_types', 'payment_method_types');

const running = new Map<string, Promise<StripeMock>>();

/** The mock of this process, which its first request starts: that takes a second of CPU time. It has no state. */
export function stripeMock(program: string): StripeMock {
  return {
    async ask(request) {
      const mock = running.get(program) ?? startStripeMock(program);
      running.set(program, mock);
      return await (await mock).ask(request);
    },
  };
}

/** Its shell reads from our pipe, so it ends when this process does, even on SIGKILL. */
async function startStripeMock(program: string): Promise<StripeMock> {
  const port = await freePort();
  const script = '"$0" -http-addr "127.0.0.1:$1" -https-addr 127.0.0.1:0 >/dev/null 2>&1 & mock=$!; cat; kill $mock';
  const shell = spawn('/bin/sh', ['-c', script, program, String(port)], { stdio: ['pipe', 'ignore', 'ignore'] });
  shell.unref();
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries++) {
    if (await fetch(url).catch(() => undefined)) break;
    if (tries > 200) throw new Error('stripe-mock did not start');
    await sleep(50);
  }
  return {
    async ask({ method, url: path, body }) {
      const answer = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: 'Bearer sk_test_123', 'content-type': 'application/x-www-form-urlencoded' },
        ...(method === 'POST' ? { body: withOldNames(body) } : {}),
      });
      return { status: answer.status, body: (await answer.json()) as Example };
    },
  };
}
