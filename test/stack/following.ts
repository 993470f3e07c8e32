/** A client whose call ended early because its process shut down: it polls. */

import { catalog, type ErrorCode } from '#runtime/errors.ts';
import type { Answer } from '#tools/local/client.ts';
import { until } from './until.ts';

/** What a deployment or a slot is while a build of it goes on. */
export const underWay = ['queued', 'building', 'storing'];
/** No build takes longer. */
const timeoutMs = 300_000;

/** What the call of this path would have been answered at the end, or what it was, where that is the end. `read` is a GET. */
export async function followed(path: string, answer: Answer, read: (path: string) => Promise<Answer>): Promise<Answer> {
  const { id, status } = answer.body ?? {};
  if (answer.status !== 200 || !underWay.includes(status)) return answer;
  // A slot is read where it is built; its update is a call beside that.
  const at = String(id).startsWith('dep_') ? `/v1/deployments/${id}` : path.replace(/\/update$/, '');
  const end = await until(
    () => read(at),
    ({ body }) => !underWay.includes(body.status),
    timeoutMs,
  );
  const { failed_deployment_id: failed } = end.body;
  return refusalOf(failed ? await read(`/v1/deployments/${failed}`) : end);
}

/** What a call is answered with whose build failed. */
function refusalOf(end: Answer): Answer {
  const { status, error } = end.body;
  if (status !== 'failed') return end;
  return { ...end, status: catalog[error.code as ErrorCode].status, body: { error } };
}
