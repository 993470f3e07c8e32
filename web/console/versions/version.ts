/** One version of a site: what changed, its build, and how to make it live again. */

import { type SiteFrame, sitePage } from '#web/console/frame.ts';
import { since } from '#web/console/parts.ts';
import { sitePath } from '#web/console/tabs.ts';
import { type Html, html } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
import { reasonHtml } from './failure.ts';
import { isRunning, kindWords, logBox, runningPanel, stateMark, type VersionShown, when } from './versions.ts';

type Changed = { path: string; bytes: number };
export type VersionPage = {
  version: VersionShown & {
    changes: {
      added: Changed[];
      modified: Changed[];
      removed: Changed[];
      counts: { added: number; modified: number; removed: number };
    } | null;
    commits: { subject: string; author: string }[];
  };
  log: string;
  /** The number of the live version. */
  live: number | null;
  /** Whether it can be compared with another version. */
  canCompare: boolean;
};

export function versionPage(frame: SiteFrame, page: VersionPage): WrittenPage {
  const { version, log, canCompare } = page;
  const { site, now, form } = frame;
  const path = `${sitePath(site.id)}/versions/${version.id}`;
  const running = isRunning(version);
  const restore = version.restorable && version.status !== 'live' && !site.archived;
  const main = html`<p class="back"><a href="${sitePath(site.id)}">Overview</a></p>
<h1>Version ${version.number}</h1>
<p class="lead">${stateMark(version, site)} · ${kindWords(version.kind)} · ${when(version.created_at, now)} by ${version.by}</p>
${version.error ? html`${reasonHtml(version.error)}<p class="hint">Ask your agent to fix it. To show visitors an earlier version, choose Restore beside it on the <a href="${sitePath(site.id)}">overview</a>.</p>` : null}
${restore ? restorePanel(frame, page) : null}
${canCompare ? html`<section class="panel"><p>${version.status === 'live' ? 'See what it changed on the pages.' : 'See what looks different from the live version.'}</p>${form({ action: `${path}/compare`, inline: true }, html`<button class="quiet">Compare</button>`)}</section>` : null}
${running ? runningPanel(version, log, { now, progress: `${path}/progress` }) : null}
${commitList(version)}
${changeList(version)}
${running || log === '' ? null : html`<section id="log"><h2>Build log</h2>${logBox(log)}</section>`}`;
  const modules = running ? { modules: ['/account/scripts/progress.js'], refreshSeconds: 5 } : {};
  return sitePage(frame, 'overview', { title: `Version ${version.number}`, main, ...modules });
}

/** Says what visitors get before it is pressed. */
function restorePanel({ site, form, now }: SiteFrame, { version, live }: VersionPage): Html {
  const { id, number, created_at: at, by } = version;
  const isOlder = live !== null && number < live;
  const change = isOlder ? 'what was published after it is taken off' : 'what it changed is shown again';
  return html`<section class="panel" id="restore"><p>Visitors see version ${number} of ${since(new Date(at), now)} by ${by} at once${live === null ? null : ` in place of version ${live}: ${change}`}. Nothing is lost: every version stays here, and all changes stay stored for the next publish.</p>
${form({ action: `${sitePath(site.id)}/versions/${id}/restore`, inline: true }, html`<button>Restore version ${number}</button>`)}</section>`;
}

function commitList({ commits }: VersionPage['version']): Html | null {
  if (commits.length === 0) return null;
  return html`<section><h2>What was done</h2>
<ul class="rows">${commits.map(({ subject, author }) => html`<li><div><strong>${subject}</strong><small>${author}</small></div></li>`)}</ul></section>`;
}

function changeList({ changes }: VersionPage['version']): Html | null {
  if (!changes) return null;
  const { counts } = changes;
  const groups = [
    ['Added', changes.added, counts.added],
    ['Changed', changes.modified, counts.modified],
    ['Removed', changes.removed, counts.removed],
  ] as const;
  const some = groups.filter(([, , count]) => count > 0);
  return html`<section><h2>Changed files</h2>
${some.length === 0 ? html`<p class="panel empty">The same files as in the version before.</p>` : some.map(([words, files, count]) => group(words, files, count))}</section>`;
}

function group(words: string, files: readonly Changed[], count: number): Html {
  return html`<details class="panel"${count <= 10 ? html` open` : null}><summary>${words}: ${count}</summary>
<ul class="files">${files.map(({ path }) => html`<li>${path}</li>`)}</ul>
${count > files.length ? html`<p class="hint">And ${count - files.length} more.</p>` : null}</details>`;
}
