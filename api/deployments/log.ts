/** The build log: as a whole, or streamed while it grows. */

import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { readLog } from '#db/deployments/build-log.ts';
import type { Deployment } from '#db/deployments/deployment.ts';
import type { EntityManager } from '#db/orm.ts';
import { isSettled } from '#rules/states.ts';
import { minuteMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';

const stepMs = 500;
/** Id of the `end` event. A client that reconnects with it has the whole log and gets 204, so it stops (HTML standard, 9.2.3). */
export const endEventId = 'end';
/** Proxies close a stream that is silent for longer. */
const silenceMsMax = 15_000;
const followMsMax = 30 * minuteMs;

export async function logText(em: EntityManager, deploymentId: string): Promise<string> {
  return (await readLog(em, deploymentId)).map((piece) => piece.text).join('');
}

export type Following = {
  lastEventId?: string | undefined;
  /** Ends the stream at once: destroying it alone takes effect at its next event. */
  disconnected: AbortSignal;
  silenceMs?: number;
};

/**
 * The log as server-sent events (HTML standard, section 9.2): each piece a `log` event with its number as id, then one `end` event
 * whose data is the deployment's status. It ends early, without that event, when the reader loses access or
 * disconnects.
 */
export function streamLog(
  deps: Deps,
  deploymentId: string,
  load: () => Promise<Deployment | null>,
  { lastEventId, disconnected, silenceMs = silenceMsMax }: Following,
): Readable {
  const after = numberOf(lastEventId);
  return Readable.from(events(deps, deploymentId, load, { after, disconnected, silenceMs }), { objectMode: false });
}

/** A client that reconnects sends the last id it received and gets the pieces after it. Any other id starts from the beginning. */
function numberOf(lastEventId: string | undefined): number {
  return lastEventId !== undefined && /^\d{1,9}$/.test(lastEventId) ? Number(lastEventId) : -1;
}

async function* events(
  deps: Deps,
  deploymentId: string,
  load: () => Promise<Deployment | null>,
  { after, disconnected, silenceMs }: { after: number; disconnected: AbortSignal; silenceMs: number },
): AsyncGenerator<string> {
  const end = performance.now() + followMsMax;
  let last = after;
  let saidAt = performance.now();
  // A comment first, so that the headers are sent at once.
  yield ': the build log\n\n';
  while (!disconnected.aborted && performance.now() < end) {
    const deployment = await load();
    if (!deployment) return;
    const pieces = await readLog(deps.em(), deploymentId, last);
    // Nothing written after the reader lost access is sent.
    if (pieces.length > 0 && !(await load())) return;
    for (const { seq, text } of pieces) {
      last = seq;
      yield `event: log\nid: ${seq}\n${text
        .split(/\r\n|\r|\n/)
        .map((line) => `data: ${line}\n`)
        .join('')}\n`;
    }
    if (isSettled(deployment.status)) {
      yield `event: end\nid: ${endEventId}\ndata: ${deployment.status}\n\n`;
      return;
    }
    if (pieces.length > 0) saidAt = performance.now();
    else if (performance.now() - saidAt > silenceMs) {
      saidAt = performance.now();
      yield ': still running\n\n';
    }
    if (pieces.length === 0) await setTimeout(stepMs, undefined, { signal: disconnected }).catch(() => {});
  }
}
