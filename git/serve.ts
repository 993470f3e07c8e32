/**
 * One exchange of git's smart HTTP protocol: `git upload-pack` or `git receive-pack` with `--stateless-rpc`, fully
 * streamed. git's own `http-backend` would be another process per request, and can neither disconnect a client nor pass
 * a descriptor to the hook.
 */
import type { Duplex, Readable } from 'node:stream';
import { gitEnvironment, type Place, type ProcessLimits, withinLimits } from '#providers/repositories/git.ts';
import { type SpawnedProcess, spawnByHelper, writeWithBackpressure } from '#providers/spawn-helper.ts';
import { completeBytes, fatalAnswer, refusalResponse } from './pkt-line.ts';
import { type Processes, watchProcesses } from './processes.ts';
import { type GitTimeouts, megabyte, type Progress, startTimers, workTimeMs } from './timers.ts';

export type Service = 'git-upload-pack' | 'git-receive-pack';

/** CPU time of all processes of an exchange together, also for each megabyte received; memory of each process. */
export type GitWork = { cpuSeconds: number; cpuSecondsPerMegabyte: number; dataMebibytes: number };

/** What is left of the work of an exchange, for the processes that check its push. */
export type Work = Required<Pick<Place, 'watch'>> & {
  limits(): Promise<ProcessLimits>;
  /** Settles when git has exited. */
  exited: Promise<unknown>;
  /** The push is accepted: from here on it is not refused for the time that it takes. */
  settle(): void;
};

export type Exchange = {
  service: Service;
  /** Folder of the repository. */
  dir: string;
  /** `version=1` or `version=2`, for GIT_PROTOCOL. */
  protocol: string | undefined;
  /** The request's body, decompressed. */
  body: Readable;
  bodyBytesMax: number;
  /** Further settings of git, as for `git -c`. */
  settings?: Record<string, string>;
  /** Further variables of its environment. */
  environment?: Record<string, string>;
  /** Lines for the pusher if the body is larger than that. */
  tooLarge: string[];
  /** Lines for the client if git needs more time than it may use. */
  tooSlow: string[];
  timeouts: GitTimeouts;
  work: GitWork;
  /** Answers the `pre-receive` hook; only for pushes. */
  onHook?: (channel: Duplex, work: Work) => void;
  /** Whether the access is still granted: an account may be blocked, a password may expire. */
  isStillAllowed: () => Promise<boolean>;
  /** Closes the connection to a client that timed out. */
  disconnect: () => void;
  /** Aborted when the client has disconnected. */
  signal: AbortSignal;
  /** Called once when git has exited, whatever its status. */
  onExit: () => void;
};

/** How long git gets to exit before each signal. */
const graceMs = 5000;
const killMs = 200;

/** The response, in chunks. Stops git and its children when the reader disconnects or the client is silent. */
export async function* serveGit(exchange: Exchange): AsyncGenerator<Buffer | string> {
  const { service, tooSlow } = exchange;
  const { git, progress, timers, fed, end, refuse } = await begin(exchange);
  let isBegun = false;
  try {
    for await (const chunk of outputOf(git, service)) {
      // git refuses the push, but does not say what to do.
      if (chunk.includes('fatal: Out of memory')) refuse(tooSlow);
      if (!progress.refusal) yield chunk;
      isBegun = true;
      // Counted only after the reader has received it.
      timers.moved(chunk);
    }
    await fed;
    const { status, stderr: words } = await git.exited;
    if (progress.refusal) yield refusalText(service, progress.refusal, isBegun);
    else if (status !== 0) throw new Error(`${service} exited with status ${status}: ${words}`);
  } finally {
    end();
  }
}

/** Starts git, writes the body to it, and stops it at its limits. */
async function begin(exchange: Exchange) {
  const { body, service, signal, tooSlow, work } = exchange;
  const progress: Progress = { received: 0, refusal: undefined, isSettled: false };
  const refuse = (lines: string[]) => {
    if (!progress.isSettled) progress.refusal ??= lines;
    git.stop();
  };
  const cpuMax = () => work.cpuSeconds + (work.cpuSecondsPerMegabyte * progress.received) / megabyte;
  const processes = watchProcesses(cpuMax, () => progress.isSettled || refuse(tooSlow));
  const git = await start(exchange, processes, workOf(exchange, processes, cpuMax, progress)).catch(
    (error: unknown) => {
      processes.clear();
      throw error;
    },
  );
  signal.addEventListener('abort', () => git.stop(), { once: true });
  if (signal.aborted) git.stop();
  const abandon = (reason: string) => {
    git.stop();
    body.destroy(new Error(reason));
    exchange.disconnect();
  };
  const timers = startTimers(exchange, progress, { abandon, refuse: () => refuse(tooSlow) });
  const fed = writeBody(exchange, git, timers.moved, progress, refuse).then(() => {
    if (service === 'git-receive-pack') timers.received();
  });
  fed.catch(() => git.stop());
  const end = () => {
    timers.clear();
    processes.clear();
    git.stop();
  };
  return { git, progress, timers, fed, end, refuse };
}

/** What git writes. Of a push in complete packets, so that a refusal can follow each chunk. */
async function* outputOf(git: Git, service: Service): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of git.stdout.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const complete = service === 'git-receive-pack' ? completeBytes(all) : all.length;
    rest = all.subarray(complete);
    if (complete > 0) yield all.subarray(0, complete);
  }
  if (rest.length > 0) yield rest;
}

function refusalText(service: Service, lines: string[], isBegun: boolean): string {
  if (service === 'git-receive-pack') return fatalAnswer(lines, 'Refused. Nothing has changed.');
  return isBegun ? fatalAnswer([], lines.join(' ')) : refusalResponse(service, lines.join(' '));
}

function workOf(
  { work, timeouts }: Exchange,
  processes: Processes,
  cpuMax: () => number,
  progress: Progress,
): Omit<Work, 'exited'> {
  return {
    watch: processes.add,
    limits: async () => ({
      cpuSeconds: cpuMax() - (await processes.used()),
      wallMs: workTimeMs(timeouts, progress),
      dataMebibytes: work.dataMebibytes,
      outputMebibytes: 64,
    }),
    settle() {
      progress.isSettled = true;
    },
  };
}

/**
 * Writes the body to git with backpressure. Input that git no longer reads is discarded, so that the client receives
 * the response.
 */
async function writeBody(
  { body, bodyBytesMax, tooLarge }: Exchange,
  git: Git,
  moved: (chunk: Buffer) => void,
  progress: Progress,
  refuse: (lines: string[]) => void,
): Promise<void> {
  for await (const chunk of body) {
    moved(chunk as Buffer);
    progress.received += (chunk as Buffer).length;
    if (progress.received > bodyBytesMax) refuse(tooLarge);
    if (progress.received > 2 * bodyBytesMax) {
      throw new Error('the client kept sending data after it reached the size limit');
    }
    if (!progress.refusal) await writeWithBackpressure(git.stdin, chunk as Buffer);
  }
  git.stdin.end();
}

/** Reads the body to its end: a client reads the response only after it has sent everything. */
export async function drain({ body, bodyBytesMax }: Pick<Exchange, 'body' | 'bodyBytesMax'>): Promise<void> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += (chunk as Buffer).length;
    if (bytes > bodyBytesMax) return;
  }
}

type Git = SpawnedProcess & { stop(): void };

async function start(exchange: Exchange, processes: Processes, work: Omit<Work, 'exited'>): Promise<Git> {
  const { service, dir, protocol, bodyBytesMax, settings = {}, environment, onHook, onExit } = exchange;
  const { cpuSeconds, cpuSecondsPerMegabyte, dataMebibytes } = exchange.work;
  // For each process. All of them together are watched, where the system shows their times.
  const limits = { cpuSeconds: cpuSeconds + (cpuSecondsPerMegabyte * bodyBytesMax) / megabyte, dataMebibytes };
  const [program, args] = withinLimits(['git', service.slice('git-'.length), '--stateless-rpc', dir], limits);
  const env = {
    ...gitEnvironment({ 'receive.maxInputSize': String(bodyBytesMax), ...settings }),
    ...environment,
    ...(protocol === undefined ? {} : { GIT_PROTOCOL: protocol }),
  };
  const git = await spawnByHelper(program, args, { env, hasChannel: onHook !== undefined }).catch((error: unknown) => {
    onExit();
    throw error;
  });
  processes.add(git);
  git.exited.then(onExit, onExit);
  if (git.channel) onHook?.(git.channel, { ...work, exited: git.exited });
  return stoppable(git, processes);
}

function stoppable(git: SpawnedProcess, processes: Processes): Git {
  let isOver = false;
  let stopping: NodeJS.Timeout | undefined;
  let killing: NodeJS.Timeout | undefined;
  const over = () => {
    isOver = true;
    clearTimeout(stopping);
    clearInterval(killing);
  };
  git.exited.then(over, over);
  return {
    ...git,
    // Closes the pipes and kills what git has started: a receive-pack that is signalled while its unpacker exits can
    // leave the quarantine behind.
    stop() {
      git.stdin.destroy();
      git.stdout.resume();
      git.channel?.destroy();
      processes.stop(git);
      if (isOver) return;
      // git may start another child.
      killing ??= setInterval(() => processes.stop(git), killMs);
      stopping ??= setTimeout(() => {
        git.kill('SIGTERM');
        stopping = setTimeout(() => git.kill('SIGKILL'), graceMs);
      }, graceMs);
    },
  };
}
