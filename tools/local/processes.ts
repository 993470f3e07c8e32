/** Operating-system processes: identified reliably, started as daemons with a log file, stopped until they are gone. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { identify, isRunning, type ProcessId } from './process-id.mjs';

export { identify, isRunning, type ProcessId };

const bootIdFile = '/proc/sys/kernel/random/boot_id';

/** The command line of a process; empty if it cannot be read. */
export function commandLine(pid: number): string {
  try {
    if (existsSync(bootIdFile)) return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return '';
  }
}

/**
 * Sends the signal, kills the process after the grace period, and returns when it is gone. Does nothing if it is
 * already gone.
 */
export async function endProcess(id: ProcessId, signal: NodeJS.Signals, graceMs: number): Promise<void> {
  const killAt = performance.now() + graceMs;
  let next: NodeJS.Signals | undefined = signal;
  while (isRunning(id)) {
    if (performance.now() >= killAt) next = 'SIGKILL';
    if (next !== undefined) send(id.pid, next);
    next = undefined;
    await sleep(10);
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

export type DaemonOptions = {
  command: string;
  args: string[];
  logFile: string;
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** Run as this user; only root can. */
  user?: { uid: number; gid: number } | undefined;
  stopSignal: NodeJS.Signals;
  stopGraceMs: number;
  /** Called as soon as the process exists. */
  onSpawn?: ((id: ProcessId) => void) | undefined;
  /** Open an IPC channel. It closes on the other side when this process dies. */
  ipc?: boolean;
};

/** A started process. */
export type Running = {
  id: ProcessId;
  /** True until the process has exited. */
  running(): boolean;
  /** Resolves when it has exited, with its exit code or signal in words. */
  ended: Promise<string>;
  stop(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
};

export type Daemon = Running & { child: ChildProcess };

/** Starts a process in its own session, so that Ctrl+C in the terminal reaches only us and we stop it in order. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const log = openSync(options.logFile, 'a', 0o600);
  const child = spawn(options.command, options.args, {
    detached: true,
    stdio: options.ipc ? ['ignore', log, log, 'ipc'] : ['ignore', log, log],
    ...(options.env ? { env: options.env } : {}),
    ...(options.cwd ? { cwd: options.cwd } : {}),
    ...options.user,
  });
  closeSync(log);
  if (child.pid === undefined) throw await new Promise((failed) => child.once('error', failed));
  const id = identify(child.pid) ?? { pid: child.pid, started: 'exited immediately' };
  options.onSpawn?.(id);
  const ended = new Promise<string>((resolve) =>
    child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`)),
  );
  const end = async (signal: NodeJS.Signals) => {
    await endProcess(id, signal, options.stopGraceMs);
    await ended;
  };
  return {
    id,
    child,
    running: () => child.exitCode === null && child.signalCode === null,
    ended,
    stop: () => end(options.stopSignal),
    kill: () => end('SIGKILL'),
  };
}
