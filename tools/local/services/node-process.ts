/** One of our own processes: `node <entry>`, configured by its environment, ready when it says so over its channel. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem } from '#tools/local/problem.ts';
import { type Daemon, type ProcessId, startDaemon } from '#tools/local/processes.ts';

const project = join(import.meta.dirname, '../../..');

export type NodeProcessOptions = {
  name: string;
  /** From the project's folder. */
  entry: string;
  /** Another folder of the project, with its packages: another release. */
  root?: string;
  env: NodeJS.ProcessEnv;
  logFile: string;
  onSpawn?: (id: ProcessId) => void;
  /** Started ahead, to run its entry with this environment once it is known; what takes long to load is loaded meanwhile. */
  ahead?: { modules: string[]; env: Promise<NodeJS.ProcessEnv> };
};

/** Starts it and waits for its message `{ ready: true }`. */
export async function startNodeProcess(options: NodeProcessOptions): Promise<Daemon> {
  const { ahead, root = project } = options;
  const held = ahead ? ['--import', join(import.meta.dirname, '../held.ts')] : [];
  const modules = ahead ? { HELD_MODULES: JSON.stringify(ahead.modules.map((one) => join(root, one))) } : {};
  const daemon = await startDaemon({
    command: process.execPath,
    args: ['--import', join(import.meta.dirname, '../orphan.ts'), ...held, join(root, options.entry)],
    env: { ...options.env, ...modules },
    cwd: root,
    logFile: options.logFile,
    stopSignal: 'SIGTERM',
    stopGraceMs: 15_000,
    ipc: true,
    onSpawn: options.onSpawn,
  });
  if (ahead) await sayWord(daemon, ahead.env);
  const ready = new Promise<'ready'>((resolve) =>
    daemon.child.on('message', (message: { ready?: boolean }) => message.ready && resolve('ready')),
  );
  const impatience = new Promise<string>((resolve) => setTimeout(resolve, 60_000, 'not ready within a minute').unref());
  const outcome = await Promise.race([ready, daemon.ended, impatience]);
  if (outcome !== 'ready') {
    await daemon.kill();
    throw new Problem(
      `${options.name} did not start (${outcome}): ${await complaint(options.logFile)} (log: ${options.logFile})`,
    );
  }
  return daemon;
}

/** It runs from here on; where what it needs does not come, it ends. */
async function sayWord(daemon: Daemon, env: Promise<NodeJS.ProcessEnv>): Promise<void> {
  try {
    const known = await env;
    if (daemon.running()) daemon.child.send({ env: known });
  } catch (error) {
    await daemon.kill();
    throw error;
  }
}

/** What its log says last: the message of a JSON line, or the first line of an error that Node printed. */
async function complaint(logFile: string): Promise<string> {
  const lines = (await readFile(logFile, 'utf8').catch(() => '')).trim().split('\n').slice(-40);
  const error = lines.findLast((line) => /^\w*Error\b.*:/.test(line));
  if (error) return error;
  try {
    return JSON.parse(lines.at(-1) ?? '').msg;
  } catch {
    return lines.at(-1) ?? '';
  }
}
