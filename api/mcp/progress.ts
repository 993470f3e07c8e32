/** Work that lasts longer than a call, followed by reading what it is about until it is done or the patience for it is over. */
import { setTimeout as pause } from 'node:timers/promises';
import { unfinishedStatuses } from '#rules/states.ts';
import type { ApiClient, ApiResponse, Input } from './inject.ts';

type Followed = {
  /** Address of what the work is about. */
  read(answer: Input, input: Input): string;
  isOpen(answer: Input): boolean;
  patienceSeconds: number;
  /** Where the answer says that the work has failed: the address of what says why. */
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
/** Most of what a domain waits for is somebody else's to do, and no call of this minute hears of it. */
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

/** Told of each change, and again from time to time, so that a caller who counts on hearing something does. `seconds` only grows. */
export type ProgressCallback = (seconds: number, status: string) => Promise<void>;

const stepSeconds = 1;
const silenceSeconds = 5;

/**
 * Reads what the answer is about, as the caller, until it is done, the patience is over, or nobody is there any more: `gone` is aborted when the
 * caller is, and when this process is to end. Answers the last reading, of what failed if something did. A reading that is refused for a moment says
 * nothing of the work: the one before it stands.
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
  let told: string | undefined;
  for (let seconds = 0; now.status < 400 && now.body && isOpen(now.body); seconds += stepSeconds) {
    const status = statusOf(now.body);
    if (status !== told || seconds % silenceSeconds === 0) await tell(seconds, status);
    told = status;
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
