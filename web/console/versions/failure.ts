/** What an owner reads about a version that failed: why, what visitors see, and what helps. */
import { reasonOf } from '#rules/builds/failures.ts';
import type { SiteFrame } from '#web/console/frame.ts';
import { button } from '#web/console/parts.ts';
import { sitePath } from '#web/console/tabs.ts';
import { type Html, html } from '#web/html.ts';
import { lastLines, logBox, type VersionShown } from './versions.ts';

/** `restoredAt`: when it was restored; null if it was published. */
export type LiveShown = VersionShown & { restoredAt: Date | null };

const linesShown = 12;

/** One plain sentence; a compiler's message follows, collapsed. */
function reasonHtml(error: VersionShown['error']): Html {
  const { sentence, raw } = reasonOf(error);
  return html`<p class="fault">${sentence}</p>
${raw === null ? null : html`<details><summary>The exact message</summary>${logBox(raw, 'The exact message')}</details>`}`;
}

/** `isUnchanged`: nothing that could be published has changed since it failed. */
export function failedPanel(
  version: VersionShown,
  frame: SiteFrame,
  { live, log, isUnchanged }: { live: LiveShown | null; log: string; isUnchanged: boolean },
): Html {
  const { site, form } = frame;
  const path = `${sitePath(site.id)}/versions/${version.id}`;
  const isAgain = isUnchanged && !site.archived && version.error?.code !== 'build_failed';
  return html`<section class="panel" id="failed">
<h2>Version ${version.number} could not be published</h2>
${reasonHtml(version.error)}
<p>${whatVisitorsSee(site, live?.number ?? null, version)} ${whatHelps(version, isUnchanged)}</p>
${log === '' ? null : html`<h3>The last lines of the log</h3>${logBox(lastLines(log, linesShown), 'End of the build log')}`}
<div class="actions"><a class="button quiet small" href="${path}${log === '' ? '' : '#log'}">${log === '' ? 'More about this version' : 'Read the whole log'}</a>${isAgain ? button(form, `${sitePath(site.id)}/publish`, 'Publish again') : null}${agentLink}</div>
</section>`;
}

const agentLink = html`<a class="button quiet small" href="/account/agents/connect">Connect an agent</a>`;

/** The same on the page of the version itself, which has its log. `live`: the number of the live version. */
export function failureHtml(version: VersionShown, site: SiteFrame['site'], live: number | null): Html {
  const { error } = version;
  return html`${reasonHtml(error)}<p>${whatVisitorsSee(site, live, version)} ${error?.retryable ? onOurSide : 'Ask your agent to fix it.'}</p><div class="actions">${agentLink}</div>`;
}

/** `live`: the number of the live version; null if none is. */
function whatVisitorsSee(site: SiteFrame['site'], live: number | null, failed: VersionShown): string {
  if (site.archived) return 'Visitors see that the site is closed.';
  if (site.blocked !== null) return 'Visitors do not see the site while it is blocked.';
  if (live === null) return 'Visitors see nothing yet.';
  return live > failed.number
    ? `Visitors see version ${live}.`
    : `Visitors still see version ${live}: nothing has to be restored.`;
}

const onOurSide = 'The failure was on our side, so publishing again can work.';

function whatHelps({ error }: VersionShown, isUnchanged: boolean): string {
  if (error?.retryable) return onOurSide;
  if (!isUnchanged) return 'The site has changed since, so publishing may work now. If it fails again, ask your agent.';
  return error?.code === 'build_failed'
    ? 'Nothing has changed since, so publishing again would fail in the same way. Ask your agent to fix it.'
    : 'Nothing has changed since. Correct what the message names, or ask your agent, then publish again.';
}
