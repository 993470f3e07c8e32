/** The time-outs of an exchange. */

/**
 * Time-outs, in milliseconds: for a silent client (`idleMs`), for a received push (`workMs`, and `workMsPerMegabyte`
 * for its size), and for a client that sends or reads less than `bytesPerSecondMin` on average (`slowMs`), which could
 * otherwise occupy a process forever. `askMs`: how often the access is checked again.
 */
export type GitTimeouts = {
  idleMs: number;
  workMs: number;
  workMsPerMegabyte: number;
  slowMs: number;
  bytesPerSecondMin: number;
  askMs: number;
};

export const megabyte = 1_000_000;

/** `received`: bytes of the body so far. `refusal`: why git was stopped, in lines for the client. `isSettled`: the push is accepted. */
export type Progress = { received: number; refusal: string[] | undefined; isSettled: boolean };

/** How long the work of a push of this size may take, in milliseconds. */
export function workTimeMs({ workMs, workMsPerMegabyte }: GitTimeouts, { received }: Progress): number {
  return workMs + (workMsPerMegabyte * received) / megabyte;
}

type Stops = { abandon(reason: string): void; refuse(): void };

type Timed = { timeouts: GitTimeouts; isStillAllowed: () => Promise<boolean> };

/** Enforces the time-outs of an exchange: those of the client until a push is received, then that of git's work. */
export function startTimers({ timeouts, isStillAllowed }: Timed, progress: Progress, { abandon, refuse }: Stops) {
  const { idleMs, slowMs, bytesPerSecondMin, askMs } = timeouts;
  const began = performance.now();
  let bytes = 0;
  let [isReceived, isOver] = [false, false];
  let work: NodeJS.Timeout | undefined;
  const idle = setTimeout(() => abandon('the client sent no data for too long'), idleMs);
  // The hook checks the access of a received push again.
  const ask = async () => isReceived || (await isStillAllowed()) || abandon('access was revoked');
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
      if (!isOver) work = setTimeout(refuse, workTimeMs(timeouts, progress));
    },
    clear(): void {
      isOver = true;
      clearTimeout(idle);
      clearInterval(asking);
      clearTimeout(work);
    },
  };
}
