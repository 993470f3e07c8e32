/** Follows work that outlasts a request, by polling its resource until it is done or the time is over. */
import { setTimeout as pause } from 'node:timers/promises';
import { unfinishedStatuses } from '#rules/states.ts';
import type { ApiClient, ApiResponse, Input } from './inject.ts';

type Followed = {
  /** The path of the resource to poll. */
  read(answer: Input, input: Input): string;
  isOpen(answer: Input): boolean;
  patienceSeconds: number;
  /** If the response says that the work failed: the path of the resource with the error. */
  failed?(answer: Input): string | undefined;
};

const deployment: Followed = {
  read: ({ id }) => `/v1/deployments/${id}`,
  isOpen: ({ status }) => (unfinishedStatuses as readonly unknown[]).includes(status),
  patienceSeconds: 600,
};
const slot: Followed = {
  read: ({ slot: number }, { id }) => `/v1/sites/${encodeURIComponent(String(id))}/previews/${number}`,
  isOpen: ({ status }) => status === 'building',
  patienceSeconds: 600,
  failed: ({ failed_deployment_id: failed }) => (failed ? `/v1/deployments/${failed}` : undefined),
};
/**
 * Only the platform's own work is followed: most other steps of a domain wait for people, and take longer than a call.
 */
const domain: Followed = {
  read: ({ id }) => `/v1/domains/${id}`,
  isOpen: ({ waiting_on }) => waiting_on === 'platform',
  patienceSeconds: 60,
};

export const followed: Record<string, Followed> = {
  'site.publish': deployment,
  'deployment.complete': deployment,
  'preview.publish': deployment,
  'preview.build': slot,
  'preview.update': slot,
  'domain.onboard': domain,
  'domain.check': domain,
  'domain.attach': domain,
};

/** Called on each change and at intervals, so that clients do not time out. `seconds` only increases. */
export type ProgressCallback = (seconds: number, status: string) => Promise<void>;

const stepSeconds = 1;
const silenceSeconds = 5;

/**
 * Polls the resource as the caller until it is done, the time is over, or `gone` is aborted: by a disconnect or a
 * shutdown. Returns the last response, or that of the failed resource. Retryable errors are ignored.
 */
export async function follow(
  send: ApiClient,
  { read, isOpen, patienceSeconds, failed }: Followed,
  begun: ApiResponse & { body: Input },
  {
    input,
    tell,
    gone,
    stepMs = stepSeconds * 1000,
  }: { input: Input; tell: ProgressCallback; gone: AbortSignal; stepMs?: number },
): Promise<ApiResponse> {
  let now: ApiResponse = begun;
  let reported: string | undefined;
  for (let seconds = 0; now.status < 400 && now.body && isOpen(now.body); seconds += stepSeconds) {
    const status = statusOf(now.body);
    if (status !== reported || seconds % silenceSeconds === 0) await tell(seconds, status);
    reported = status;
    if (seconds >= patienceSeconds || gone.aborted) break;
    await pause(stepMs, undefined, { signal: gone }).catch(() => undefined);
    if (gone.aborted) break;
    const next = await send('GET', read(begun.body, input));
    if (!isPassing(next)) now = next;
  }
  const why = now.body && failed?.(now.body);
  if (why === undefined) return now;
  const said = await send('GET', why);
  return isPassing(said) ? now : said;
}

function isPassing({ status, body }: ApiResponse): boolean {
  return status >= 400 && (body?.error as { retryable?: unknown } | undefined)?.retryable === true;
}

function statusOf({ status, ssl }: Input): string {
  const certificate = (ssl as { status?: unknown } | undefined)?.status;
  return certificate === undefined ? String(status) : `${status}, certificate ${certificate}`;
}
