/** Temporal's development server with its UI and an SQLite file. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '#tools/local/ports.ts';
import { type Daemon, type ProcessId, type Running, startDaemon } from '#tools/local/processes.ts';
import { UserError } from '#tools/local/user-error.ts';
import { findTemporal } from './temporal-cli.mjs';

/** Search attributes of type Keyword, by which operators filter workflows. */
export const searchAttributes = ['SiteId', 'AccountId', 'Hostname', 'Resource'];

const database = 'temporal.db';
/** A file that says that the database has all its tables. */
const finished = 'finished';

export type TemporalOptions = {
  dir: string;
  /** Free ones by default. */
  ports?: { server?: number; ui?: number };
  logFile?: string;
  log?: (line: string) => void;
  onSpawn?: (id: ProcessId) => void;
  /** Aborts a build of the CLI. */
  signal?: AbortSignal | undefined;
};

export type Temporal = Running & { address: string; uiUrl: string; pid: number };

/** Starts the server on this folder and returns when its search attributes exist. */
export async function startTemporal(options: TemporalOptions): Promise<Temporal> {
  const dir = resolve(options.dir);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const cli = await findTemporal(options.log ?? (() => {}), { signal: options.signal }).catch((cause) => {
    throw new UserError(cause.message, { cause });
  });
  const port = options.ports?.server ?? (await freePort());
  const uiPort = options.ports?.ui ?? (await freePort());
  const address = `127.0.0.1:${port}`;
  const logFile = options.logFile ?? join(dir, 'temporal.log');
  const start = async () => {
    const daemon = await startDaemon({
      command: cli,
      args: [
        ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--ui-port', String(uiPort)],
        // Relative: the server makes a URL of it, in which `?` and `#` have a meaning.
        ...['--db-filename', database, '--log-level', 'error'],
        ...searchAttributes.flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
      ],
      cwd: dir,
      logFile,
      stopSignal: 'SIGTERM',
      stopGraceMs: 10_000,
      onSpawn: options.onSpawn,
    });
    await waitUntilReady(cli, address, daemon, logFile);
    return daemon;
  };
  const daemon = await start().catch(async (error) => {
    if (!(await setUnfinishedAside(dir, error))) throw error;
    return await start();
  });
  await writeFile(join(dir, finished), '');
  return { ...daemon, address, uiUrl: `http://localhost:${uiPort}`, pid: daemon.id.pid };
}

/**
 * A server that is killed while it creates its database leaves one without some tables, and later does not complete it. True if that is
 * the fault, and the database was never in use; its files then have other names.
 */
async function setUnfinishedAside(dir: string, error: Error): Promise<boolean> {
  if (!error.message.includes('no such table') || existsSync(join(dir, finished))) return false;
  const files = (await readdir(dir)).filter((name) => name.startsWith(database));
  for (const name of files) await rename(join(dir, name), join(dir, `unfinished.${name}`));
  return true;
}

/** Whether the port accepts connections. Checked first because the CLI's query costs more than the server's start. */
function acceptsConnections(address: string): Promise<boolean> {
  const [host = '', port = ''] = address.split(':');
  return new Promise((resolve) => {
    const socket = connect(Number(port), host);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

async function waitUntilReady(cli: string, address: string, daemon: Daemon, logFile: string): Promise<void> {
  const ask = ['operator', 'search-attribute', 'list', '--address', address, '--command-timeout', '5s'];
  const deadline = performance.now() + 60_000;
  for (;;) {
    const isThere = await acceptsConnections(address);
    const answer = isThere ? await promisify(execFile)(cli, ask).catch(() => undefined) : undefined;
    if (answer && searchAttributes.every((name) => answer.stdout.includes(name))) return;
    if (!daemon.running() || performance.now() > deadline) {
      await daemon.kill();
      const log = await readFile(logFile, 'utf8').catch(() => '');
      throw new UserError(`Temporal did not start: ${log.trim().split('\n').at(-1) ?? ''} (log: ${logFile})`);
    }
    await sleep(30);
  }
}
