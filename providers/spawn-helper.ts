/**
 * Starts programs by way of a small process of ours (spawn-helper-process.mjs). Node forks to start a program, and a fork copies the tables of all
 * memory: 20 ms in which a process of 200 MB does nothing else, 1 ms in one that has hardly any. See decision 026.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex, Readable, Writable } from 'node:stream';

export type Launched = {
  stdin: Writable;
  stdout: Readable;
  /** The program's descriptor 3, where one was asked for. */
  channel: Duplex | undefined;
  /**
   * Resolves when the program and all that hold its pipes are gone and stdout has been read or destroyed. Rejects when the program could not be
   * started.
   */
  ended: Promise<Ending>;
  /** Signals the program and all of its process group; nothing when they are gone. */
  kill(signal: NodeJS.Signals): void;
};

/** The exit status, null when killed, and the last words on stderr (4 KiB of them). */
export type Ending = { status: number | null; words: string };

/** What a program gets: its whole environment, and whether a channel. */
export type Outfit = { env: Record<string, string>; hasChannel?: boolean };

/** What the launcher tells of a program: that it runs, how it has ended, or why it could not be started. */
type News = { id: string; pid: number } | { id: string; ending: Ending } | { id: string; error: string };

/** A program, or the place for one: its streams are connected ahead. */
type Run = {
  /** A random name. Whoever knows it and a descriptor is the launcher. */
  id: string;
  /** By descriptor, as they come in. */
  streams: Map<number, Socket>;
  ready: PromiseWithResolvers<void>;
  pid: number | undefined;
  over: PromiseWithResolvers<Ending>;
};

type Launcher = { child: ChildProcess; runs: Map<string, Run>; prepared: Run[]; used: number };

/** Programs whose streams are connected before anybody asks. */
const preparedCount = 6;
const descriptors = [0, 1, 3] as const;

let current: Launcher | undefined;

/**
 * Starts a program in a process group of its own. When this process ends, however it does, the program is stopped within seconds, if it does not end
 * by itself. Throws when there is nobody to start it.
 */
export async function launch(program: string, args: string[], { env, hasChannel = false }: Outfit): Promise<Launched> {
  current ??= openLauncher();
  const launcher = current;
  const run = launcher.prepared.shift() as Run;
  prepare(launcher);
  hold(launcher);
  run.over.promise.catch(() => {}).finally(() => release(launcher));
  await run.ready.promise;
  tell(launcher, { id: run.id, program, args, env, hasChannel });
  return launched(launcher, run, hasChannel);
}

function launched(launcher: Launcher, run: Run, hasChannel: boolean): Launched {
  const [stdin, stdout, channel] = descriptors.map((descriptor) => run.streams.get(descriptor)) as Streams;
  for (const stream of [stdin, stdout, channel]) stream.ref();
  // Each way of the two that is not used.
  stdin.resume();
  stdout.end();
  if (hasChannel) channel.on('end', () => channel.end());
  else channel.destroy();
  const read = new Promise((done) => stdout.on('close', done));
  const ended = run.over.promise.then(async (ending) => {
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
    ended,
    kill(signal) {
      if (launcher.runs.has(run.id)) tell(launcher, { id: run.id, signal });
    },
  };
}
type Streams = [stdin: Socket, stdout: Socket, channel: Socket];

/** Writes to a program as fast as it reads. What nobody takes any more is dropped. */
export async function give(stdin: Writable, chunk: Buffer | string): Promise<void> {
  if (!stdin.writable || stdin.write(chunk)) return;
  await new Promise<void>((done) => {
    const end = () => {
      stdin.off('drain', end).off('close', end);
      done();
    };
    stdin.on('drain', end).on('close', end);
  });
}

function openLauncher(): Launcher {
  // The folder is for this user alone.
  const folder = mkdtempSync(join(tmpdir(), 'frontage-launcher-'));
  const address = join(folder, 'streams');
  const child = fork(join(import.meta.dirname, 'spawn-helper-process.mjs'), [address], {
    env: {},
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const launcher: Launcher = { child, runs: new Map(), prepared: [], used: 0 };
  const server = createServer({ allowHalfOpen: true }, (socket) => admit(launcher, socket));
  server.on('error', () => child.kill('SIGKILL'));
  server.listen({ path: address, backlog: 4096 }).unref();
  child.on('message', (news: News) => hear(launcher, news));
  for (const event of ['exit', 'error']) {
    child.once(event, () => {
      lose(launcher);
      server.close();
      rmSync(folder, { recursive: true, force: true });
    });
  }
  child.unref();
  child.channel?.unref();
  for (let count = 0; count < preparedCount; count++) prepare(launcher);
  return launcher;
}

function prepare(launcher: Launcher): void {
  const run: Run = {
    id: randomBytes(16).toString('hex'),
    streams: new Map(),
    ready: Promise.withResolvers(),
    pid: undefined,
    over: Promise.withResolvers(),
  };
  run.ready.promise.catch(() => {});
  launcher.runs.set(run.id, run);
  launcher.prepared.push(run);
  tell(launcher, { id: run.id });
}

/** This process does not end by itself while it waits for a program. */
function hold(launcher: Launcher): void {
  launcher.used += 1;
  launcher.child.channel?.ref();
}

function release(launcher: Launcher): void {
  launcher.used -= 1;
  if (launcher.used === 0) launcher.child.channel?.unref();
}

function tell(launcher: Launcher, message: object): void {
  launcher.child.send(message, (error) => error && lose(launcher));
}

function hear({ runs }: Launcher, news: News): void {
  const run = runs.get(news.id);
  if (!run) return;
  if ('pid' in news) {
    run.pid = news.pid;
    return;
  }
  runs.delete(news.id);
  if ('ending' in news) run.over.resolve(news.ending);
  else run.over.reject(new Error(`A program could not be started: ${news.error}`));
}

/** A connection begins with the line that says which stream of which program it is. What follows is the program's. */
function admit({ runs }: Launcher, socket: Socket): void {
  // A program that ends before it has read all is judged by its exit status, not by the broken pipe.
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

/** What a launcher that is gone was running has failed. */
function lose(launcher: Launcher): void {
  if (current === launcher) current = undefined;
  launcher.child.kill('SIGKILL');
  for (const { pid, ready, over, streams } of launcher.runs.values()) {
    ready.reject(new Error('the launcher ended'));
    over.resolve({ status: null, words: 'the launcher ended' });
    try {
      if (pid === undefined) for (const stream of streams.values()) stream.destroy();
      else process.kill(-pid, 'SIGKILL');
    } catch {
      // Gone with it.
    }
  }
  launcher.runs.clear();
}
