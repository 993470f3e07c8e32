/** `npm start`: the whole system on this machine, with a demo site. `--watch` restarts our processes on changes. */
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, writeDevFiles } from '#tools/local/announce.ts';
import { type Demo, ensureDemo, ensureOwner, publishDemo } from '#tools/local/demo.ts';
import { namedPorts } from '#tools/local/named-ports.ts';
import type { Owner } from '#tools/local/owner.ts';
import { showProgress } from '#tools/local/progress.ts';
import { processNames, type ServiceName, type Stack, startStack } from '#tools/local/stack.ts';
import { UserError } from '#tools/local/user-error.ts';
import { watchSource } from '#tools/local/watch.ts';

const dataDir = resolve(process.env.FRONTAGE_DATA || '.frontage');
const progress = showProgress();
const stopping = new AbortController();
let stack: Stack | undefined;

async function start(): Promise<void> {
  stack = await startStack({
    dataDir,
    durable: true,
    ports: () => namedPorts(dataDir, process.env),
    env: userSettings(),
    prepare: () => progress.step('The sandbox', prepare),
    progress,
    signal: stopping.signal,
    onUnexpectedEnd: (name, how) => void restartProcess(name, how),
  });
  const owner = await ensureOwner(stack);
  const demo = await tryDemo(stack, owner);
  writeDevFiles(stack, owner, demo);
  progress.line(`✓ Ready (${(performance.now() / 1000).toFixed(1)} s)`);
  progress.line(await describe(stack, owner, demo));
  if (process.argv.includes('--watch')) watchSource((file) => void restartAll(file));
}

/** Without a sandbox there are no builds; everything else works. */
async function prepare(note: (line: string) => void): Promise<void> {
  const { prepareSandbox } = await import('#tools/local/services/sandbox-image.ts');
  await prepareSandbox(dataDir, process.env, note).catch((error: Error) => {
    progress.line(`✗ The sandbox image could not be created, so sites cannot be built: ${error.message}`);
  });
}

/** The user's settings for our processes; the stack itself sets the folder. */
function userSettings(): NodeJS.ProcessEnv {
  const set = Object.entries(process.env).filter(([name]) => name.startsWith('FRONTAGE_'));
  return Object.fromEntries(set.filter(([name]) => name !== 'FRONTAGE_DATA'));
}

/** If the demo site cannot be built, everything else still runs. */
async function tryDemo(stack: Stack, owner: Owner): Promise<Demo | undefined> {
  let demo: Demo | undefined;
  try {
    await progress.step('The demo site', async (note) => {
      demo = await ensureDemo(stack, owner);
      await publishDemo(stack, owner, demo, note);
    });
  } catch (error) {
    stopping.signal.throwIfAborted();
    report(error);
  }
  return demo;
}

async function restartProcess(name: ServiceName, how: string): Promise<void> {
  progress.line(`✗ ${name} exited (${how}); restarting it (log: ${join(dataDir, 'logs', `${name}.log`)})`);
  while (!stopping.signal.aborted) {
    await sleep(1_000);
    try {
      return await stack?.restart(name);
    } catch (error) {
      report(error);
    }
  }
}

async function restartAll(file: string): Promise<void> {
  progress.line(`… ${file} changed`);
  for (const result of await Promise.allSettled(processNames.map((name) => stack?.restart(name)))) {
    if (result.status === 'rejected') report(result.reason);
  }
}

function report(error: unknown): void {
  progress.line(`✗ ${error instanceof UserError ? error.message : ((error as Error).stack ?? error)}`);
}

/** The first signal stops everything in order, a second one kills it. */
function stopOnSignals(started: Promise<void>): void {
  let signalledAt: number | undefined;
  const onSignal = async () => {
    // One Ctrl+C may arrive twice: from the terminal and from npm, which forwards it.
    if (signalledAt !== undefined && performance.now() - signalledAt < 500) return;
    const again = signalledAt !== undefined;
    signalledAt = performance.now();
    stopping.abort();
    progress.line(again ? '… killing all processes' : '… stopping');
    await (again ? stack?.killAll() : stack?.stop());
    if (!stack) await started.catch(() => {});
    if (!again) progress.line('✓ Stopped.');
    progress.close();
    process.exit(again ? 1 : 0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void onSignal());
  // The parent process died.
  process.once('disconnect', () => void onSignal());
}

const started = start();
stopOnSignals(started);
started.catch(async (error) => {
  if (stopping.signal.aborted) return;
  report(error);
  await stack?.stop();
  process.exit(1);
});
