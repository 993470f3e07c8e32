/** Common to all sandboxes: send the source, read log and output, enforce the time limit, return the outcome. */

import { randomBytes } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { LimitName } from '#rules/limit-names.ts';
import { passLog, withoutControlCharacters } from './log.ts';
import { ConsumerFailed, type Output, OutputRefused, openOutput } from './output.ts';
import type { BuildOutcome, BuildRequest, BuildTimes } from './sandbox.ts';
import { SourceFailed, writeSource } from './source-writer.ts';

/** A running sandbox, seen from outside. `providers/sandbox/image/runner/supervisor.mjs` defines the protocol. */
export type Container = {
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  /** The exit status. `outOfMemory` is true if the kernel killed one of its processes for lack of memory. */
  exited: Promise<{ code: number | null; outOfMemory: boolean }>;
  /** Kills all its processes at once, which also ends the streams. May be called twice. */
  kill: () => Promise<void>;
};

const exitMs = 1_000;
const cacheMs = 20_000;

/**
 * Runs one build in a container that `open` starts. The container is gone when this settles. A fault of the site is an
 * outcome; any other fault is a rejection.
 */
export async function runBuild(request: BuildRequest, open: () => Promise<Container>): Promise<BuildOutcome> {
  request.signal.throwIfAborted();
  const container = await open().catch((error) => {
    request.cache?.destroy();
    throw error;
  });
  const cut: { timedOut: boolean } = { timedOut: false };
  const kill = () => void container.kill().catch(() => {});
  const clock = setTimeout(() => {
    cut.timedOut = true;
    kill();
  }, request.limits.timeoutMs);
  request.signal.addEventListener('abort', kill, { once: true });
  try {
    if (request.signal.aborted) kill();
    return await awaitVerdict(container, request, cut);
  } finally {
    clearTimeout(clock);
    request.signal.removeEventListener('abort', kill);
    request.cache?.destroy();
    await container.kill();
  }
}

async function awaitVerdict(
  container: Container,
  request: BuildRequest,
  cut: { timedOut: boolean },
): Promise<BuildOutcome> {
  const { limits, signal } = request;
  const endOfLog = `\0${randomBytes(24).toString('base64')}`;
  let sourceFault: unknown;
  const sourceSent = pipeline(writeSource(request, endOfLog), container.stdin).catch((error) => {
    // Other errors mean that the container ended early and stopped reading; its exit status gives the reason.
    if (error instanceof SourceFailed) sourceFault = error.cause;
  });
  const logged = passLog(container.stderr, { end: endOfLog, bytesMax: limits.logBytesMax, onLog: request.onLog });
  const output = openOutput(container.stdout, limits);
  let fault: unknown;
  const verdict = await output.readFiles(request).catch(async (error) => {
    fault = error;
    // A sandbox that broke off is exiting by itself. If it were killed now, it could not report that it ran out of
    // memory.
    if (!isOwnFault(error)) await Promise.race([container.exited, delay(exitMs, undefined, { ref: false })]);
    return undefined;
  });
  // Log and verdict use separate streams: the end of one says nothing about the other.
  if (verdict) await Promise.race([logged, delay(exitMs, undefined, { ref: false })]);
  const isHandedOver = verdict?.status === 'built' && !signal.aborted;
  if (isHandedOver) await handOver(output, request, verdict.ms);
  await container.kill();
  output.close();
  const exit = verdict ? undefined : await container.exited;
  request.source.destroy();
  await Promise.all([sourceSent, logged]);
  if (isHandedOver) return { status: 'built' };
  signal.throwIfAborted();
  if (fault instanceof OutputRefused) return failed(fault.code, fault.message, fault.limit);
  if (fault instanceof ConsumerFailed) throw fault.cause;
  if (sourceFault) throw sourceFault;
  if (cut.timedOut) {
    return failed('build_timeout', `The build took longer than ${limits.timeoutMs / 1000} seconds.`, 'build_seconds');
  }
  if ((verdict?.status === 'failed' && verdict.outOfMemory) || exit?.outOfMemory)
    return failed('build_failed', outOfMemory(limits.memoryBytes));
  if (verdict?.status === 'failed') return failed('build_failed', verdict.message);
  throw new Error(`The sandbox exited with code ${exit?.code} without a result.`, { cause: fault });
}

/** Reports the finished build, then reads its caches. The caches are optional. */
async function handOver(
  output: Output,
  { onBuilt, onCache, cacheFolder }: BuildRequest,
  ms: BuildTimes,
): Promise<void> {
  await onBuilt?.(ms);
  if (!onCache) return;
  await Promise.race([
    output.readCache(onCache, cacheFolder).catch(() => {}),
    delay(cacheMs, undefined, { ref: false }),
  ]);
}

/** The reader stopped; the sandbox itself is still running. */
function isOwnFault(error: unknown): boolean {
  return error instanceof OutputRefused || error instanceof ConsumerFailed;
}

function failed(code: OutputRefused['code'] | 'build_timeout', message: string, limit?: LimitName): BuildOutcome {
  return { status: 'failed', code, message: withoutControlCharacters(message), ...(limit ? { limit } : {}) };
}

function outOfMemory(bytes: number): string {
  return `The build exceeded its memory limit (${Math.round(bytes / 1_048_576)} MiB). Large images are the usual cause.`;
}
