/** `npm start`: the whole system on this machine, with a demo site to look at. `--watch` restarts our processes on change. */
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, writeDevFiles } from '#tools/local/announce.ts';
import { type Demo, keepDemo, keepOwner, publishDemo } from '#tools/local/demo.ts';
import { namedPorts } from '#tools/local/named-ports.ts';
import type { Owner } from '#tools/local/owner.ts';
import { Problem } from '#tools/local/problem.ts';
import { showProgress } from '#tools/local/progress.ts';
import { type PartName, processNames, type Stack, startStack } from '#tools/local/stack.ts';
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
    env: namedSettings(),
    prepare: () => progress.step('The sandbox', prepare),
    progress,
    signal: stopping.signal,
    onUnexpectedEnd: startAgain,
  });
  const owner = await keepOwner(stack);
  const demo = await tryDemo(stack, owner);
  writeDevFiles(stack, owner, demo);
  progress.line(`✓ Ready (${(performance.now() / 1000).toFixed(1)} s)`);
  progress.line(await describe(stack, owner, demo));
  if (process.argv.includes('--watch')) watchSource(restartProcesses);
}

/** Without a sandbox there are no builds; the rest runs. */
async function prepare(note: (line: string) => void): Promise<void> {
  const { prepareSandbox } = await import('#tools/local/services/sandbox-image.ts');
  await prepareSandbox(dataDir, process.env, note).catch((error: Error) => {
    progress.line(`✗ The sandbox's image could not be made, so sites cannot be built: ${error.message}`);
  });
}

/** What the user set for our processes; the folder and the ports are the stack's to hand on. */
function namedSettings(): NodeJS.ProcessEnv {
  const set = Object.entries(process.env).filter(([name]) => name.startsWith('FRONTAGE_'));
  return Object.fromEntries(set.filter(([name]) => name !== 'FRONTAGE_DATA'));
}

/** A machine that cannot build sites still runs the rest. */
async function tryDemo(stack: Stack, owner: Owner): Promise<Demo | undefined> {
  let demo: Demo | undefined;
  try {
    await progress.step('The demo site', async (note) => {
      demo = await keepDemo(stack, owner);
      await publishDemo(stack, owner, demo, note);
    });
  } catch (error) {
    stopping.signal.throwIfAborted();
    complain(error);
  }
  return demo;
}

async function startAgain(name: PartName, how: string): Promise<void> {
  progress.line(`✗ ${name} ended (${how}); starting it again (log: ${join(dataDir, 'logs', `${name}.log`)})`);
  while (!stopping.signal.aborted) {
    await sleep(1_000);
    try {
      return await stack?.restart(name);
    } catch (error) {
      complain(error);
    }
  }
}

async function restartProcesses(file: string): Promise<void> {
  progress.line(`… ${file} changed`);
  for (const result of await Promise.allSettled(processNames.map((name) => stack?.restart(name)))) {
    if (result.status === 'rejected') complain(result.reason);
  }
}

function complain(error: unknown): void {
  progress.line(`✗ ${error instanceof Problem ? error.message : ((error as Error).stack ?? error)}`);
}

/** The first signal stops everything in order, a second one kills it. */
function stopOnSignals(started: Promise<void>): void {
  let askedAt: number | undefined;
  const onSignal = async () => {
    // One Ctrl+C may arrive twice: from the terminal and from npm, which passes it on.
    if (askedAt !== undefined && performance.now() - askedAt < 500) return;
    const again = askedAt !== undefined;
    askedAt = performance.now();
    stopping.abort();
    progress.line(again ? '… killing everything' : '… stopping');
    await (again ? stack?.killAll() : stack?.stop());
    if (!stack) await started.catch(() => {});
    progress.close();
    process.exit(again ? 1 : 0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  // The process that started us died.
  process.once('disconnect', onSignal);
}

const started = start();
stopOnSignals(started);
started.catch(async (error) => {
  if (stopping.signal.aborted) return;
  complain(error);
  await stack?.stop();
  process.exit(1);
});
