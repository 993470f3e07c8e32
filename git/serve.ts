/**
 * One answer of git's smart HTTP protocol: `git upload-pack` or `git receive-pack` with `--stateless-rpc`, everything streamed. git's own
 * `http-backend` would be one more process for each request, and has no way to cut off a client or to hand the hook a descriptor.
 */
import type { Duplex, Readable } from 'node:stream';
import { gitEnvironment, withinMemory } from '#providers/repositories/git.ts';
import { type SpawnedProcess, spawnByHelper, writeWithBackpressure } from '#providers/spawn-helper.ts';
import { fatalAnswer } from './pkt-line.ts';

export type Service = 'git-upload-pack' | 'git-receive-pack';

/**
 * Patience, in milliseconds: with a silent client (`idleMs`), with a push that has arrived (`workMs`), and with a client that sends or takes less than
 * `bytesPerSecondMin` on average (`slowMs`): whoever sends a byte a minute would hold a place for ever. `askMs`: how often it is asked whether the client may
 * go on.
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
  /** What the pusher reads when the body is larger than that. */
  tooLarge: string[];
  timeouts: GitTimeouts;
  /** Answers the `pre-receive` hook; for pushes alone. */
  onHook?: (channel: Duplex) => void;
  /** Whether the access that it began with still stands: an account may be blocked, a password may run out. */
  isStillAllowed: () => Promise<boolean>;
  /** Ends the connection to a client that is not worth waiting for. */
  disconnect: () => void;
  /** Called once git has ended, however it did. */
  onExit: () => void;
};

/** How long git gets to end by itself when it is stopped. */
const graceMs = 2000;

/** The answer, piece by piece. Ends git, and all that git has started, when the reader leaves or the client falls silent. */
export async function* serveGit(exchange: Exchange): AsyncGenerator<Buffer | string> {
  const git = await start(exchange);
  const stop = (reason: string) => {
    git.stop();
    exchange.body.destroy(new Error(reason));
  };
  let isWorking = false;
  const { idleMs, workMs, slowMs, bytesPerSecondMin, askMs } = exchange.timeouts;
  const abandon = (reason: string) => {
    stop(reason);
    exchange.disconnect();
  };
  const timer = setTimeout(() => abandon('fell silent'), idleMs);
  // A push that has arrived is judged once more by its hook.
  const ask = async () => isWorking || (await exchange.isStillAllowed()) || abandon('may not go on');
  const asking = setInterval(() => void ask().catch(() => {}), askMs);
  const began = performance.now();
  let bytes = 0;
  const moved = (chunk: Buffer) => {
    timer.refresh();
    bytes += chunk.length;
    const patienceMs = slowMs + (bytes / bytesPerSecondMin) * 1000;
    if (performance.now() - began > patienceMs) abandon('is too slow');
  };
  const isLarge = { value: false };
  const fed = writeBody(exchange, git, moved, isLarge).then(() => {
    if (exchange.service !== 'git-receive-pack') return;
    isWorking = true;
    clearTimeout(timer);
  });
  fed.catch(() => git.stop());
  const work = fed.then(() => (isWorking ? setTimeout(() => stop('took too long'), workMs) : undefined));
  work.catch(() => {});
  try {
    for await (const chunk of git.stdout.iterator({ destroyOnReturn: false })) {
      if (!isLarge.value) yield chunk as Buffer;
      // After the reader has taken it.
      if (!isWorking) moved(chunk as Buffer);
    }
    await fed;
    const { status, stderr: words } = await git.exited;
    if (isLarge.value) yield fatalAnswer(exchange.tooLarge, 'Refused. Nothing has changed.');
    else if (status !== 0) throw new Error(`${exchange.service} ended with ${status}: ${words}`);
  } finally {
    clearTimeout(timer);
    clearInterval(asking);
    work.then(clearTimeout, () => {});
    git.stop();
  }
}

/** Hands the body to git as fast as it reads. What git no longer wants is read and dropped, so that the client hears the answer. */
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
    if (bytes > 2 * bodyBytesMax) throw new Error('the client goes on sending');
    if (!isLarge.value) await writeWithBackpressure(git.stdin, chunk as Buffer);
  }
  git.stdin.end();
}

/** Reads what is sent to its end: a client listens for an answer when it has said all. */
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
    // First only the ends of its pipes: a receive-pack that is signalled while its unpacker dies can leave the quarantine behind.
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
