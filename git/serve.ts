/**
 * One exchange of git's smart HTTP protocol: `git upload-pack` or `git receive-pack` with `--stateless-rpc`, fully
 * streamed. git's own `http-backend` would be another process per request, and can neither disconnect a client nor pass
 * a descriptor to the hook.
 */
import type { Duplex, Readable } from 'node:stream';
import { gitEnvironment, withinMemory } from '#providers/repositories/git.ts';
import { type SpawnedProcess, spawnByHelper, writeWithBackpressure } from '#providers/spawn-helper.ts';
import { fatalAnswer } from './pkt-line.ts';

export type Service = 'git-upload-pack' | 'git-receive-pack';

/**
 * Time-outs, in milliseconds: for a silent client (`idleMs`), for a received push (`workMs`), and for a client that
 * sends or reads less than `bytesPerSecondMin` on average (`slowMs`), which could otherwise occupy a process forever.
 * `askMs`: how often the access is checked again.
 */
export type GitTimeouts = { idleMs: number; workMs: number; slowMs: number; bytesPerSecondMin: number; askMs: number };

export type Exchange = {
  service: Service;
  /** Folder of the repository. */
  dir: string;
  /** `version=1` or `version=2`, for GIT_PROTOCOL. */
  protocol: string | undefined;
  /** The request's body, decompressed. */
  body: Readable;
  bodyBytesMax: number;
  /** Lines for the pusher if the body is larger than that. */
  tooLarge: string[];
  timeouts: GitTimeouts;
  /** Answers the `pre-receive` hook; only for pushes. */
  onHook?: (channel: Duplex) => void;
  /** Whether the access is still granted: an account may be blocked, a password may expire. */
  isStillAllowed: () => Promise<boolean>;
  /** Closes the connection to a client that timed out. */
  disconnect: () => void;
  /** Called once when git has exited, whatever its status. */
  onExit: () => void;
};

/** How long git gets to exit before each signal. */
const graceMs = 2000;

/** The response, in chunks. Stops git and its children when the reader disconnects or the client is silent. */
export async function* serveGit(exchange: Exchange): AsyncGenerator<Buffer | string> {
  const git = await start(exchange);
  const timers = startTimers(exchange, (reason) => {
    git.stop();
    exchange.body.destroy(new Error(reason));
  });
  const isLarge = { value: false };
  const fed = writeBody(exchange, git, timers.moved, isLarge).then(() => {
    if (exchange.service === 'git-receive-pack') timers.received();
  });
  fed.catch(() => git.stop());
  try {
    for await (const chunk of git.stdout.iterator({ destroyOnReturn: false })) {
      if (!isLarge.value) yield chunk as Buffer;
      // Counted only after the reader has received it.
      timers.moved(chunk as Buffer);
    }
    await fed;
    const { status, stderr: words } = await git.exited;
    if (isLarge.value) yield fatalAnswer(exchange.tooLarge, 'Refused. Nothing has changed.');
    else if (status !== 0) throw new Error(`${exchange.service} exited with status ${status}: ${words}`);
  } finally {
    timers.clear();
    git.stop();
  }
}

/** Enforces the time-outs of an exchange: those of the client until a push is received, then that of git's work. */
function startTimers(exchange: Exchange, stop: (reason: string) => void) {
  const { idleMs, workMs, slowMs, bytesPerSecondMin, askMs } = exchange.timeouts;
  const began = performance.now();
  let bytes = 0;
  let [isReceived, isOver] = [false, false];
  let work: NodeJS.Timeout | undefined;
  const abandon = (reason: string) => {
    stop(reason);
    exchange.disconnect();
  };
  const idle = setTimeout(() => abandon('the client sent no data for too long'), idleMs);
  // The hook checks the access of a received push again.
  const ask = async () => isReceived || (await exchange.isStillAllowed()) || abandon('access was revoked');
  const asking = setInterval(() => void ask().catch(() => {}), askMs);
  return {
    /** The client has sent or read these bytes. */
    moved(chunk: Buffer): void {
      if (isReceived) return;
      idle.refresh();
      bytes += chunk.length;
      const patienceMs = slowMs + (bytes / bytesPerSecondMin) * 1000;
      if (performance.now() - began > patienceMs) abandon('the client is too slow');
    },
    /** The whole push is received. */
    received(): void {
      isReceived = true;
      clearTimeout(idle);
      // The body may end after the exchange.
      if (!isOver) work = setTimeout(() => stop('the push took too long'), workMs);
    },
    clear(): void {
      isOver = true;
      clearTimeout(idle);
      clearInterval(asking);
      clearTimeout(work);
    },
  };
}

/**
 * Writes the body to git with backpressure. Input that git no longer reads is discarded, so that the client receives
 * the response.
 */
async function writeBody(
  { body, bodyBytesMax }: Exchange,
  git: Git,
  moved: (chunk: Buffer) => void,
  isLarge: { value: boolean },
): Promise<void> {
  let bytes = 0;
  for await (const chunk of body) {
    moved(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > bodyBytesMax && !isLarge.value) {
      isLarge.value = true;
      git.stop();
    }
    if (bytes > 2 * bodyBytesMax) throw new Error('the client kept sending data after it reached the size limit');
    if (!isLarge.value) await writeWithBackpressure(git.stdin, chunk as Buffer);
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

async function start({ service, dir, protocol, bodyBytesMax, onHook, onExit }: Exchange): Promise<Git> {
  const [program, args] = withinMemory(['git', service.slice('git-'.length), '--stateless-rpc', dir]);
  const env = {
    ...gitEnvironment({ 'receive.maxInputSize': String(bodyBytesMax) }),
    ...(protocol === undefined ? {} : { GIT_PROTOCOL: protocol }),
  };
  const git = await spawnByHelper(program, args, { env, hasChannel: onHook !== undefined }).catch((error: unknown) => {
    onExit();
    throw error;
  });
  let isOver = false;
  let stopping: NodeJS.Timeout | undefined;
  const over = () => {
    isOver = true;
    clearTimeout(stopping);
    onExit();
  };
  git.exited.then(over, over);
  if (git.channel) onHook?.(git.channel);
  return {
    ...git,
    // Closes only the pipes first: a receive-pack that is signalled while its unpacker exits can leave the quarantine
    // behind.
    stop() {
      git.stdin.destroy();
      git.stdout.resume();
      git.channel?.destroy();
      if (isOver) return;
      stopping ??= setTimeout(() => {
        git.kill('SIGTERM');
        stopping = setTimeout(() => git.kill('SIGKILL'), graceMs);
      }, graceMs);
    },
  };
}
