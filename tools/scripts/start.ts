/** `npm start`: the whole system on this machine, with a demo site. `--watch` restarts our processes on changes. */
import { appendFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { demoCloneUrl, describe, writeDevFiles } from '#tools/local/announce.ts';
import type { BuildSandbox } from '#tools/local/build-sandbox.ts';
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
let sandbox: BuildSandbox | undefined;

async function start(): Promise<void> {
  const opened = Promise.withResolvers<Owner>();
  stack = await startStack({
    dataDir,
    durable: true,
    ports: () => namedPorts(dataDir, process.env),
    env: userSettings(),
    prepare,
    whenApiReady: async (addresses) => opened.resolve(await ensureOwner(addresses)),
    progress,
    signal: stopping.signal,
    onUnexpectedEnd: (name, how) => void restartProcess(name, how),
  });
  const owner = await opened.promise;
  const demo = await tryDemo(stack, owner);
  writeDevFiles(stack, owner, demo);
  const cloneUrl = demo && (await demoCloneUrl(stack, owner, demo));
  progress.line(`✓ Ready (${(performance.now() / 1000).toFixed(1)} s)`);
  progress.line(describe({ stack, owner, demo, sandbox: sandbox?.kind, cloneUrl }));
  if (process.argv.includes('--watch')) watchSource((file) => void restartAll(file));
}

/** Without a sandbox and without the permission to do without one there are no builds; everything else works. */
async function prepare(): Promise<NodeJS.ProcessEnv> {
  const [{ chooseSandbox }, { chooseBrowser }] = await Promise.all([
    import('#tools/local/build-sandbox.ts'),
    import('#tools/local/browser.ts'),
  ]);
  const [chosen, browser] = await Promise.all([
    progress.step('The sandbox check', (note) => chooseSandbox(dataDir, process.env, note)),
    chooseBrowser(process.env),
  ]);
  sandbox = chosen;
  stopping.signal.throwIfAborted(); // Ctrl+C also ended the programs that were to make the sandbox.
  for (const line of [...chosen.lines, ...browser.lines]) progress.line(line);
  return { ...chosen.settings, ...browser.settings };
}

/** The user's settings for our processes; the stack itself sets the folder, and a port where none is named. */
function userSettings(): NodeJS.ProcessEnv {
  const set = Object.entries(process.env).filter(([name]) => name.startsWith('FRONTAGE_'));
  const isOpen = (name: string, value = '') => name === 'FRONTAGE_DATA' || (name.endsWith('_PORT') && value === '');
  return Object.fromEntries(set.filter(([name, value]) => !isOpen(name, value)));
}

/** The demo site, published if sites can be built. If that fails, everything else still runs. */
async function tryDemo(stack: Stack, owner: Owner): Promise<Demo | undefined> {
  let demo: Demo | undefined;
  try {
    const created = await ensureDemo(stack, owner);
    demo = created;
    if (!sandbox?.kind) return demo;
    return await progress.step('The demo site', (note) => publishDemo(stack, owner, created, note));
  } catch (error) {
    stopping.signal.throwIfAborted();
    report(error);
    return demo;
  }
}

async function restartProcess(name: ServiceName, how: string): Promise<void> {
  if (stopping.signal.aborted) return;
  progress.line(`✗ ${name} exited (${how}); restarting it (log: ${join(dataDir, 'logs', `${name}.log`)})`);
  while (!stopping.signal.aborted) {
    await sleep(1_000);
    if (!stack) continue; // It is still starting the others.
    try {
      return await stack.restart(name);
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
  if (stopping.signal.aborted) return;
  if (error instanceof UserError) {
    progress.line(`✗ ${error.message}`);
    return;
  }
  const { code, syscall } = error as NodeJS.ErrnoException;
  // A watcher fails with the same code where the system has no more watches.
  if (code === 'ENOSPC' && syscall !== 'watch') {
    progress.line(`✗ The disk of ${dataDir} is full. Free space on it, then start again.`);
    return;
  }
  const log = join(dataDir, 'logs', 'start.log');
  const details = `${(error as Error).stack ?? error}\n`;
  let where = `the details are in ${log}`;
  try {
    appendFileSync(log, details, { mode: 0o600 });
  } catch {
    where = `${log} cannot be written: ${details}`; // The disk may be full.
  }
  progress.line(`✗ ${String(error).split('\n')[0]} (unexpected: ${where})`);
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
