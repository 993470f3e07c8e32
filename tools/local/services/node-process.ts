/** One of our own processes: `node <entry>`, configured by its environment. It reports over IPC when it is ready. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Daemon, type ProcessId, startDaemon } from '#tools/local/processes.ts';
import { UserError } from '#tools/local/user-error.ts';

/** MB for new objects. A machine for one person needs no more; of Node's 16, the imports of modules alone fill 50 MB of each process. */
const smallHeap = '--max-semi-space-size=4';

const project = join(import.meta.dirname, '../../..');

export type NodeProcessOptions = {
  name: string;
  /** Relative to the project folder. */
  entry: string;
  /** Another project folder with its own packages: another release. */
  root?: string;
  env: NodeJS.ProcessEnv;
  logFile: string;
  onSpawn?: (id: ProcessId) => void;
  /**
   * Start the process before its environment is known: it preloads these modules and runs its entry when the
   * environment arrives.
   */
  preload?: { modules: string[]; env: Promise<NodeJS.ProcessEnv> };
};

/** As a URL: a path may contain `#`, `?` and `%`. */
const importing = (file: string) => ['--import', new URL(`../${file}`, import.meta.url).href];

/** Starts it and waits for its message `{ ready: true }`. */
export async function startNodeProcess(options: NodeProcessOptions): Promise<Daemon> {
  const { preload, root = project } = options;
  const waiting = preload ? importing('wait-for-environment.ts') : [];
  const modules = preload?.modules.map((one) => pathToFileURL(join(root, one)).href);
  const daemon = await startDaemon({
    command: process.execPath,
    args: [smallHeap, ...importing('exit-with-parent.ts'), ...waiting, join(root, options.entry)],
    env: { ...options.env, ...(modules && { PRELOADED_MODULES: JSON.stringify(modules) }) },
    cwd: root,
    logFile: options.logFile,
    stopSignal: 'SIGTERM',
    stopGraceMs: 15_000,
    ipc: true,
    onSpawn: options.onSpawn,
  });
  if (preload) await sendEnvironment(daemon, preload.env);
  const ready = new Promise<'ready'>((resolve) =>
    daemon.child.on('message', (message: { ready?: boolean }) => message.ready && resolve('ready')),
  );
  const timeout = new Promise<string>((resolve) =>
    setTimeout(resolve, 180_000, 'it was not ready within three minutes').unref(),
  );
  const outcome = await Promise.race([ready, daemon.ended, timeout]);
  if (outcome !== 'ready') {
    await daemon.kill();
    throw new UserError(
      `${options.name} did not start (${outcome}): ${await lastMessage(options.logFile)} (log: ${options.logFile})`,
    );
  }
  return daemon;
}

/** Sends the environment, which starts the entry. Kills the process if a dependency fails. */
async function sendEnvironment(daemon: Daemon, env: Promise<NodeJS.ProcessEnv>): Promise<void> {
  try {
    const known = await env;
    if (daemon.running()) daemon.child.send({ env: known });
  } catch (error) {
    await daemon.kill();
    throw error;
  }
}

/** The last message of its log: of a JSON line, or the first line of an error that Node printed. */
async function lastMessage(logFile: string): Promise<string> {
  const lines = (await readFile(logFile, 'utf8').catch(() => '')).trim().split('\n').slice(-40);
  const at = lines.findLastIndex((line) => /^\w*Error\b.*:/.test(line));
  const error = lines[at];
  // Of a list, the first item.
  if (error) return error.endsWith(':') ? `${error} ${lines[at + 1]?.trim()}` : error;
  try {
    return JSON.parse(lines.at(-1) ?? '').msg;
  } catch {
    return lines.at(-1) ?? '';
  }
}
