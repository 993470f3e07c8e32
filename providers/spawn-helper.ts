/**
 * Starts programs through a small helper process (spawn-helper-process.mjs). Node forks to start a program, and a fork
 * copies the page tables: this blocks a process of 200 MB for 20 ms, and one with hardly any memory for 1 ms. See
 * decision 026.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex, Readable, Writable } from 'node:stream';

export type SpawnedProcess = {
  stdin: Writable;
  stdout: Readable;
  /** The program's descriptor 3, if requested. */
  channel: Duplex | undefined;
  /**
   * Resolves when the program and all that hold its pipes are gone and stdout has been read or destroyed. Rejects if
   * the program could not be started.
   */
  exited: Promise<ExitResult>;
  /** The program's id, known shortly after the start; undefined again once it has exited. */
  pid(): number | undefined;
  /** Signals the program's whole process group; does nothing once it has exited. */
  kill(signal: NodeJS.Signals): void;
};

/** The exit status, null when killed, and the last 4 KiB of stderr. */
export type ExitResult = { status: number | null; stderr: string };

/** The program's whole environment, and whether it gets a channel. */
export type SpawnOptions = { env: Record<string, string>; hasChannel?: boolean };

/** Messages of the helper: a program runs, has exited, or could not be started. */
type HelperMessage = { id: string; pid: number } | { id: string; ending: ExitResult } | { id: string; error: string };

/** A program, or a prepared run without one: its streams are connected in advance. */
type Run = {
  /** A random id, which authenticates connections of the helper. */
  id: string;
  /** By descriptor, added as they connect. */
  streams: Map<number, Socket>;
  ready: PromiseWithResolvers<void>;
  pid: number | undefined;
  exited: PromiseWithResolvers<ExitResult>;
};

type SpawnHelper = { child: ChildProcess; runs: Map<string, Run>; prepared: Run[]; active: number };

/** Runs whose streams are connected in advance. */
const preparedCount = 6;
const descriptors = [0, 1, 3] as const;

let current: SpawnHelper | undefined;

/**
 * Starts a program in its own process group. When this process ends in any way, the program is stopped within seconds
 * unless it exits by itself. Rejects if the helper exits.
 */
export async function spawnByHelper(
  program: string,
  args: string[],
  { env, hasChannel = false }: SpawnOptions,
): Promise<SpawnedProcess> {
  current ??= startHelper();
  const helper = current;
  const run = helper.prepared.shift() as Run;
  prepare(helper);
  hold(helper);
  run.exited.promise.catch(() => {}).finally(() => release(helper));
  await run.ready.promise;
  send(helper, { id: run.id, program, args, env, hasChannel });
  return toProcess(helper, run, hasChannel);
}

function toProcess(helper: SpawnHelper, run: Run, hasChannel: boolean): SpawnedProcess {
  const [stdin, stdout, channel] = descriptors.map((descriptor) => run.streams.get(descriptor)) as Streams;
  for (const stream of [stdin, stdout, channel]) stream.ref();
  // Closes the unused direction of each stream.
  stdin.resume();
  stdout.end();
  if (hasChannel) channel.on('end', () => channel.end());
  else channel.destroy();
  const read = new Promise((done) => stdout.on('close', done));
  const ended = run.exited.promise.then(async (ending) => {
    stdin.destroy();
    channel.resume();
    await read;
    return ending;
  });
  ended.catch(() => {});
  return {
    stdin,
    stdout,
    channel: hasChannel ? channel : undefined,
    exited: ended,
    pid: () => (helper.runs.has(run.id) ? run.pid : undefined),
    kill(signal) {
      if (helper.runs.has(run.id)) send(helper, { id: run.id, signal });
    },
  };
}
type Streams = [stdin: Socket, stdout: Socket, channel: Socket];

/** Writes to a program with backpressure. Data for a closed program is discarded. */
export async function writeWithBackpressure(stdin: Writable, chunk: Buffer | string): Promise<void> {
  if (!stdin.writable || stdin.write(chunk)) return;
  await new Promise<void>((done) => {
    const end = () => {
      stdin.off('drain', end).off('close', end);
      done();
    };
    stdin.on('drain', end).on('close', end);
  });
}

/** Only this user can access it. A long or closed TMPDIR has no place for a socket, whose address has at most 103 bytes. */
function makeFolder(): string {
  const name = 'frontage-spawn-helper-';
  try {
    if (Buffer.byteLength(tmpdir()) <= 60) return mkdtempSync(join(tmpdir(), name));
  } catch {
    // Another user's.
  }
  return mkdtempSync(join('/tmp', name));
}

function startHelper(): SpawnHelper {
  const folder = makeFolder();
  const address = join(folder, 'streams');
  const child = fork(join(import.meta.dirname, 'spawn-helper-process.mjs'), [address], {
    env: {},
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const helper: SpawnHelper = { child, runs: new Map(), prepared: [], active: 0 };
  const server = createServer({ allowHalfOpen: true }, (socket) => onStream(helper, socket));
  server.on('error', () => child.kill('SIGKILL'));
  server.listen({ path: address, backlog: 4096 }).unref();
  child.on('message', (news: HelperMessage) => onMessage(helper, news));
  for (const event of ['exit', 'error']) {
    child.once(event, () => {
      onHelperExit(helper);
      server.close();
      rmSync(folder, { recursive: true, force: true });
    });
  }
  child.unref();
  child.channel?.unref();
  for (let count = 0; count < preparedCount; count++) prepare(helper);
  return helper;
}

function prepare(helper: SpawnHelper): void {
  const run: Run = {
    id: randomBytes(16).toString('hex'),
    streams: new Map(),
    ready: Promise.withResolvers(),
    pid: undefined,
    exited: Promise.withResolvers(),
  };
  run.ready.promise.catch(() => {});
  helper.runs.set(run.id, run);
  helper.prepared.push(run);
  send(helper, { id: run.id });
}

/** Keeps this process alive while it waits for a program. */
function hold(helper: SpawnHelper): void {
  helper.active += 1;
  helper.child.channel?.ref();
}

function release(helper: SpawnHelper): void {
  helper.active -= 1;
  if (helper.active === 0) helper.child.channel?.unref();
}

function send(helper: SpawnHelper, message: object): void {
  helper.child.send(message, (error) => error && onHelperExit(helper));
}

function onMessage({ runs }: SpawnHelper, news: HelperMessage): void {
  const run = runs.get(news.id);
  if (!run) return;
  if ('pid' in news) {
    run.pid = news.pid;
    return;
  }
  runs.delete(news.id);
  if ('ending' in news) run.exited.resolve(news.ending);
  else run.exited.reject(new Error(`The program could not be started: ${news.error}`));
}

/** A connection begins with a line that names the program and the stream. The rest is the program's data. */
function onStream({ runs }: SpawnHelper, socket: Socket): void {
  // A program that exits before it has read all input is judged by its exit status, not by the broken pipe.
  socket.on('error', () => {}).unref();
  socket.once('readable', () => {
    const bytes: Buffer = socket.read() ?? Buffer.alloc(0);
    const [, id = '', descriptor = ''] = /^([0-9a-f]{32}):([013])\n$/.exec(bytes.toString('latin1')) ?? [];
    const run = runs.get(id);
    if (!run) return socket.destroy();
    run.streams.set(Number(descriptor), socket);
    if (run.streams.size === descriptors.length) run.ready.resolve();
  });
}

/** Fails all programs of a helper that has exited. */
function onHelperExit(helper: SpawnHelper): void {
  if (current === helper) current = undefined;
  helper.child.kill('SIGKILL');
  for (const { pid, ready, exited: over, streams } of helper.runs.values()) {
    ready.reject(new Error('the helper process exited'));
    over.resolve({ status: null, stderr: 'the helper process exited' });
    try {
      if (pid === undefined) for (const stream of streams.values()) stream.destroy();
      else process.kill(-pid, 'SIGKILL');
    } catch {
      // It exited with the helper.
    }
  }
  helper.runs.clear();
}
