/** Versions of a site in words, for the overview and the page of one version. */
import { unfinishedStatuses } from '#rules/states.ts';
import { type Html, html } from '#web/html.ts';
import { exact, relative } from '#web/times.ts';

/** A deployment as the API returns it; `by` says who made it. */
export type VersionShown = {
  id: string;
  number: number;
  kind: string;
  status: string;
  restorable: boolean;
  created_at: string;
  finished_at: string | null;
  live_at: string | null;
  error?: { code: string; message: string; retryable: boolean; detail?: string };
  by: Html | string;
  /** Of the newest commit that it added. */
  title?: string | undefined;
};

/** Visitors of an archived site see no version. */
export function stateMark({ status }: Pick<VersionShown, 'status'>, { archived }: { archived: boolean }): Html {
  const isClosed = archived && status === 'live';
  return html`<span class="state ${isClosed ? 'retired' : status}">${isClosed ? 'Last live version' : statusWords(status)}</span>`;
}

const statuses: Record<string, string> = {
  queued: 'Waiting to be built',
  building: 'Building',
  storing: 'Storing its files',
  ready: 'Built',
  uploading: 'Upload in progress',
  live: 'Live',
  retired: 'No longer live',
  failed: 'Failed',
  cancelled: 'Cancelled',
  superseded: 'Replaced by a newer version',
};

const kinds: Record<string, string> = {
  site: 'Whole site',
  posts: 'Posts only',
  upload: 'Uploaded files',
  preview: 'Preview',
};

export const statusWords = (status: string): string => statuses[status] ?? status;
export const kindWords = (kind: string): string => kinds[kind] ?? kind;

export const isRunning = ({ status }: Pick<VersionShown, 'status'>): boolean =>
  (unfinishedStatuses as readonly string[]).includes(status);

/** "3 hours ago", with the exact time for those who point at it. */
export function when(moment: string, now: Date): Html {
  const at = new Date(moment);
  return html`<time datetime="${at.toISOString()}" title="${exact(at)}">${relative(at, now)}</time>`;
}

/** So many lines of a log fit into its box on a wide screen. */
const linesInBox = 15;

/** The log of a build that has ended, at its end, where the error is. */
export const endedLog = (text: string): Html =>
  html`${text.split('\n').length > linesInBox ? html`<p class="hint">The end of the log is shown. Scroll up in the box to read what was before.</p>` : null}<div class="log-end">${logBox(text)}</div>`;

/** The log of a build. It can be focused, because it scrolls. */
export function logBox(text: string, label = 'Build log'): Html {
  return html`<pre class="log" tabindex="0" role="region" aria-label="${label}">${text === '' ? 'The log is empty.' : text}</pre>`;
}

/** The end of a log, without empty lines. */
export const lastLines = (log: string, most: number): string =>
  log
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-most)
    .join('\n');

/** What a page shows of a running build. With a script it grows, without one the page reloads. */
export function runningPanel(
  version: VersionShown,
  log: string,
  { now, progress }: { now: Date; progress: string },
): Html {
  return html`<section class="panel running" data-progress="${progress}">
<h2>Version ${version.number} is on its way</h2>
<p><span class="pulse" aria-hidden="true"></span> <span data-status role="status">${statusWords(version.status)}</span> · started ${when(version.created_at, now)} by ${version.by}</p>
${logBox(log)}
</section>`;
}
