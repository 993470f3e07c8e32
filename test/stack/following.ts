/** How a client goes on where a call's wait for a build ended early, because the process that waited was told to end: it asks. */
import type { Answer } from '../../local/client.ts';
import { codes } from '../coverage/codes.ts';
import { until } from './until.ts';

const underWay = ['queued', 'building', 'storing'];
/** No build takes longer. */
const patienceMs = 300_000;

/** What the call of this path would have been answered at the end, or what it was, where that is the end. `read` is a GET. */
export async function followed(path: string, answer: Answer, read: (path: string) => Promise<Answer>): Promise<Answer> {
  const { id, status } = answer.body ?? {};
  if (answer.status !== 200 || !underWay.includes(status)) return answer;
  const at = String(id).startsWith('dep_') ? `/v1/deployments/${id}` : path;
  const end = await until(
    () => read(at),
    ({ body }) => !underWay.includes(body.status),
    patienceMs,
  );
  const { error } = end.body;
  return end.body.status === 'failed'
    ? { ...end, status: codes.find(({ name }) => name === error.code)?.status ?? 500, body: { error } }
    : end;
}
