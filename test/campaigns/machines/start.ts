/** `npm start` on a machine: what it says, how it ends, and whether the demo site answers. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { until } from '#test/stack/until.ts';
import type { Machine } from './machine.ts';

export type Start = {
  /** Everything that was printed. */
  said(): string;
  /** The same, with the log of packages that could not be installed. */
  report(): string;
  /** Waits until the start is complete or has failed; true if it is complete. */
  isReady(): Promise<boolean>;
  hasEnded(): boolean;
  exitCode(): number | null;
  /** Signals the foreground, as a terminal does: npm and all that it started without a session of their own. */
  signal(signal: NodeJS.Signals): Promise<void>;
  /** Ctrl+C, and waits for the end. */
  stop(): Promise<void>;
  seconds(): number;
};

const longestMs = 1_200_000;

export function npmStart(machine: Machine): Start {
  const child = machine.spawn(['npm', 'start']);
  const npmLog = join(machine.clone, '.frontage/npm-install.log');
  const since = performance.now();
  let output = '';
  let readyAt: number | undefined;
  const closed = once(child, 'close');
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output += chunk;
      if (output.includes('✓ Ready')) readyAt ??= performance.now();
    });
  }
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  // Its output ends with the summary.
  const isComplete = () => output.includes('Ctrl+C stops everything');
  const signal = async (name: NodeJS.Signals) => void process.kill(-(await machine.pidOf(child)), name);
  return {
    said: () => output,
    report: () => `${output}\n${existsSync(npmLog) ? readFileSync(npmLog, 'utf8').slice(-2_000) : ''}`,
    async isReady() {
      await until(
        () => isComplete() || hasEnded(),
        (over) => over,
        longestMs,
      );
      if (hasEnded()) await closed;
      return isComplete() && !hasEnded();
    },
    hasEnded,
    exitCode: () => child.exitCode,
    signal,
    async stop() {
      await signal('SIGINT');
      await closed;
    },
    seconds: () => ((readyAt ?? performance.now()) - since) / 1000,
  };
}

export type Running = { site: { status: number; body: string }; account: { sandboxes: string[] } };

/** The demo site as a visitor gets it, and the owner's account. */
export async function visitDemo(machine: Machine): Promise<Running> {
  const dev = JSON.parse(readFileSync(join(machine.clone, '.frontage/dev.json'), 'utf8'));
  const edge = new URL(dev.edge_url);
  const host = `workshop.${dev.base_domain}:${edge.port}`;
  const site = await get(machine, `http://127.0.0.1:${edge.port}/`, { host });
  const account = await get(machine, `${dev.base_url.replace('localhost', '127.0.0.1')}/v1/account`, {
    authorization: `Bearer ${dev.access_token}`,
  });
  return { site, account: JSON.parse(account.body) };
}

const getter = `
const [url, headers] = process.argv.slice(1);
require('node:http').get(url, { headers: JSON.parse(headers) }, async (response) => {
  const body = (await response.toArray()).join('');
  console.log(JSON.stringify({ status: response.statusCode, body }));
});`;

async function get(machine: Machine, url: string, headers: Record<string, string>) {
  const child: ChildProcess = machine.inNetwork([process.execPath, '-e', getter, url, JSON.stringify(headers)]);
  const [answer, fault] = await Promise.all([child.stdout, child.stderr].map((one) => text(one as never)));
  if (!answer) throw new Error(`${url} does not answer: ${fault}`);
  return JSON.parse(answer) as { status: number; body: string };
}
