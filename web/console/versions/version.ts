/** One version of a site: what changed, its build, and how to make it live again. */

import { type SiteFrame, sitePage } from '#web/console/frame.ts';
import { sitePath } from '#web/console/tabs.ts';
import { type Html, html } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
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
    commits: { sha: string; subject: string; author: string }[];
  };
  log: string;
  /** Whether it can be compared with another version. */
  canCompare: boolean;
};

export function versionPage(frame: SiteFrame, { version, log, canCompare }: VersionPage): WrittenPage {
  const { site, now, form } = frame;
  const path = `${sitePath(site.id)}/versions/${version.id}`;
  const running = isRunning(version);
  const restore = version.restorable && version.status !== 'live' && !site.archived;
  const main = html`<p class="back"><a href="${sitePath(site.id)}">Overview</a></p>
<h1>Version ${version.number}</h1>
<p class="lead">${stateMark(version, site)} · ${kindWords(version.kind)} · ${when(version.created_at, now)} by ${version.by}</p>
${version.error ? html`<p class="fault">${version.error.message}</p><p class="hint">Tell your agent. To show visitors an earlier version, restore it on the <a href="${sitePath(site.id)}">overview</a>.</p>` : null}
${restore ? html`<section class="panel"><p>Restoring shows this version to visitors at once. Nothing is rebuilt, and no version is lost.</p>${form({ action: `${path}/restore`, inline: true }, html`<button>Restore this version</button>`)}</section>` : null}
${canCompare ? html`<section class="panel"><p>${version.status === 'live' ? 'See what it changed on the pages.' : 'See what looks different from the live version.'}</p>${form({ action: `${path}/compare`, inline: true }, html`<button class="quiet">Compare</button>`)}</section>` : null}
${running ? runningPanel(version, log, { now, progress: `${path}/progress` }) : null}
${commitList(version)}
${changeList(version)}
${running || log === '' ? null : html`<section><h2>Build log</h2>${logBox(log)}</section>`}`;
  const modules = running ? { modules: ['/account/scripts/progress.js'], refreshSeconds: 5 } : {};
  return sitePage(frame, 'overview', { title: `Version ${version.number}`, main, ...modules });
}

function commitList({ commits }: VersionPage['version']): Html | null {
  if (commits.length === 0) return null;
  return html`<section><h2>What was done</h2>
<ul class="rows">${commits.map(({ sha, subject, author }) => html`<li><div><strong>${subject}</strong><small>${author} · ${sha.slice(0, 7)}</small></div></li>`)}</ul></section>`;
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
