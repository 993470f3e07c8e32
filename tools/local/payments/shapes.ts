/** The vendor's own mock server, which knows the shape of every request and answer and remembers nothing. Left out where it is not installed. */
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '#tools/local/ports.ts';

export type Shapes = {
  /** What the vendor answers to such a request: a fault of its shape, or an example of the answer. Null where there is no mock. */
  ask(request: { method: string; url: string; body: string }): Promise<{ status: number; body: Example } | null>;
  close(): void;
};
type Example = { [field: string]: unknown };

/** `FRONTAGE_STRIPE_MOCK` names the program, else PATH has it. */
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

export const noShapes: Shapes = { ask: async () => null, close() {} };

/** The mock is a little older than our client: what was renamed since has its old name there. */
const asOfTheMock = (body: string) => body.replaceAll('allowed_payment_method_types', 'payment_method_types');

/** Starts the mock. It ends with us, whatever ends us: its shell reads from us until we are gone. */
export async function openShapes(program: string): Promise<Shapes> {
  const port = await freePort();
  const script = '"$0" -http-addr "127.0.0.1:$1" -https-addr 127.0.0.1:0 >/dev/null 2>&1 & mock=$!; cat; kill $mock';
  const shell = spawn('/bin/sh', ['-c', script, program, String(port)], { stdio: ['pipe', 'ignore', 'ignore'] });
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
        ...(method === 'POST' ? { body: asOfTheMock(body) } : {}),
      });
      return { status: answer.status, body: (await answer.json()) as Example };
    },
    close: () => void shell.stdin?.end(),
  };
}
