/** The build log for readers: whole, or followed while it grows. */
import { Readable } from 'node:stream';
import { readLog } from '../../db/build-log.ts';
import type { Deployment } from '../../db/entities/deployment.ts';
import type { EntityManager } from '../../db/orm.ts';
import { isSettled } from '../../db/states.ts';
import type { Deps } from '../../deps.ts';

const stepMs = 500;
const followMsMax = 30 * 60_000;

export async function logText(em: EntityManager, deploymentId: string): Promise<string> {
  return (await readLog(em, deploymentId)).map((piece) => piece.text).join('');
}

/**
 * The log as server-sent events (HTML standard, section 9.2): each piece a `log` event with its number as id, then one `end` event
 * whose data is the deployment's status. It breaks off, without that, when the reader may not read it any more.
 */
export function streamLog(deps: Deps, deploymentId: string, load: () => Promise<Deployment | null>): Readable {
  return Readable.from(events(deps, deploymentId, load), { objectMode: false });
}

async function* events(
  deps: Deps,
  deploymentId: string,
  load: () => Promise<Deployment | null>,
): AsyncGenerator<string> {
  const end = performance.now() + followMsMax;
  let last = -1;
  // A comment first, so that the headers leave at once.
  yield ': the build log\n\n';
  while (performance.now() < end) {
    const deployment = await load();
    if (!deployment) return;
    const pieces = await readLog(deps.em(), deploymentId, last);
    for (const { seq, text } of pieces) {
      last = seq;
      yield `event: log\nid: ${seq}\n${text
        .split(/\r\n|\r|\n/)
        .map((line) => `data: ${line}\n`)
        .join('')}\n`;
    }
    if (isSettled(deployment.status)) {
      yield `event: end\ndata: ${deployment.status}\n\n`;
      return;
    }
    if (pieces.length === 0) await new Promise((resolve) => setTimeout(resolve, stepMs));
  }
}
