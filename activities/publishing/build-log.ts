/** Saves the log of a build: buffers it, and writes it a few times a second, in order. */
import { appendLog, clearLog } from '#db/deployments/build-log.ts';
import type { BuilderDeps } from './deps.ts';

const logFlushMs = 200;

export type LogWriter = {
  write(text: string): void;
  /** Returns when all is written. May be called twice. */
  close(): Promise<void>;
};

export async function openLogWriter(deps: BuilderDeps, deploymentId: string, attempt: number): Promise<LogWriter> {
  const em = deps.em();
  if (attempt > 1) await clearLog(em, deploymentId);
  let pending = attempt > 1 ? 'The build was interrupted and restarted.\n' : '';
  // Each attempt starts at a number that no earlier one reaches, so that readers miss nothing.
  let seq = (attempt - 1) * 1_000_000;
  let writing = Promise.resolve();
  const flush = () => {
    if (!pending) return;
    const text = pending;
    pending = '';
    const at = seq++;
    writing = writing
      .then(() => appendLog(em, deploymentId, at, text))
      .catch((error) => deps.log.warn({ err: error, deploymentId }, 'part of a build log could not be saved'));
  };
  const timer = setInterval(flush, logFlushMs);
  return {
    write(text) {
      pending += text;
    },
    async close() {
      clearInterval(timer);
      flush();
      await writing;
    },
  };
}
