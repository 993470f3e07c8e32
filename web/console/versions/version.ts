/** One version of a site: what changed, its build, and how to make it live again. */

import { type SiteFrame, sitePage } from '#web/console/frame.ts';
import { sitePath } from '#web/console/tabs.ts';
import { type Html, html } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
import { failureHtml } from './failure.ts';
import { endedLog, isRunning, kindWords, runningPanel, stateMark, type VersionShown, when } from './versions.ts';

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
  const { version, log, live, canCompare } = page;
  const { site, now, form } = frame;
  const path = `${sitePath(site.id)}/versions/${version.id}`;
  const running = isRunning(version);
  const restore = version.restorable && version.status !== 'live' && !site.archived;
  const main = html`<p class="back"><a href="${sitePath(site.id)}">Overview</a></p>
<h1>Version ${version.number}</h1>
<p class="lead">${stateMark(version, site)} · ${kindWords(version.kind)} · ${when(version.created_at, now)} by ${version.by}</p>
${version.error ? failureHtml(version, site, live) : null}
${restore ? restorePanel(frame, page) : null}
${canCompare ? html`<section class="panel"><p>See pictures of the pages that look different from ${version.status === 'live' ? 'the version before' : 'the live version'}, and a list of the other pages.</p>${form({ action: `${path}/compare`, inline: true }, html`<button class="quiet">Compare</button>`)}</section>` : null}
${running ? runningPanel(version, log, { now, progress: `${path}/progress` }) : null}
${commitList(version)}
${changeList(version)}
${running ? null : logSection(version, log)}`;
  const modules = running ? { modules: ['/account/scripts/progress.js'], refreshSeconds: 5 } : {};
  return sitePage(frame, 'overview', { title: `Version ${version.number}`, main, ...modules });
}

/** Of a version that is good, it is out of the way. */
function logSection({ status }: VersionPage['version'], log: string): Html | null {
  if (log === '') return null;
  if (status === 'failed') return html`<section id="log"><h2>Build log</h2>${endedLog(log)}</section>`;
  return html`<details id="log"><summary>Build log</summary>${endedLog(log)}</details>`;
}

/** Says what visitors get before it is pressed. */
function restorePanel({ site, form }: SiteFrame, { version, live }: VersionPage): Html {
  const { id, number } = version;
  const isOlder = live !== null && number < live;
  const change = isOlder ? 'What was published after it is no longer shown.' : 'What it changed is shown again.';
  return html`<section class="panel" id="restore"><p>If you restore version ${number}, visitors see it at once${live === null ? null : ` in place of version ${live}`}. ${live === null ? null : change} Nothing is lost: every version stays here, and all changes stay stored for the next publish.</p>
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
    group('Added', changes.added, counts.added),
    group('Changed', changes.modified, counts.modified),
    group('Removed', changes.removed, counts.removed),
  ].filter((one) => one !== null);
  return html`<section><h2>Changed files</h2>
${groups.length === 0 ? html`<p class="panel empty">The same files as in the version before.</p>` : groups}</section>`;
}

/** Each build writes sitemaps again, with the time. */
const isSitemap = ({ path }: Changed): boolean => /^sitemap[-\w]*\.xml$/.test(path);

function group(words: string, all: readonly Changed[], countOfAll: number): Html | null {
  const files = all.filter((file) => !isSitemap(file));
  const count = countOfAll - (all.length - files.length);
  if (count === 0) return null;
  return html`<details class="panel"${count <= 10 ? html` open` : null}><summary>${words}: ${count}</summary>
<ul class="files">${files.map(({ path }) => html`<li>${path}</li>`)}</ul>
${count > files.length ? html`<p class="hint">And ${count - files.length} more.</p>` : null}</details>`;
}
