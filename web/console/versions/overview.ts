/** A site's overview: what is live, what is not published yet, builds, previews and versions. */

import { type SiteFrame, sitePage } from '#web/console/frame.ts';
import { olderLink, since } from '#web/console/parts.ts';
import { sitePath } from '#web/console/tabs.ts';
import { type Html, html } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
import { pageName } from '#web/page-names.js';
import { relative } from '#web/times.ts';
import { failedPanel, type LiveShown } from './failure.ts';
import { isRunning, kindWords, runningPanel, stateMark, type VersionShown, when } from './versions.ts';

export type PreviewShown = {
  slot: number;
  status: string;
  address: string | null;
  deployment_id: string | null;
  holds_work: boolean;
  behind: boolean;
  expires_at: string | null;
};

export type OverviewPage = {
  /** Newest first. */
  versions: VersionShown[];
  live: LiveShown | null;
  /** What `main` has that visitors do not see yet. */
  unpublished: { source: boolean; content: boolean; address: boolean };
  /** Whether nothing of that has changed since the newest version, which failed. */
  isUnchanged: boolean;
  previews: PreviewShown[];
  /** Whether a preview can be compared with the live version. */
  canCompare: boolean;
  /** Texts of the template that the live version shows, each with the first page that has it. */
  placeholders: { text: string; path: string }[];
  /** The log of the running or failed build that is shown. */
  log: string;
  /** Where the older versions begin; null if there are none. */
  older: string | null;
};

export function overviewPage(frame: SiteFrame, page: OverviewPage): WrittenPage {
  const { site, now } = frame;
  const running = page.versions.find(isRunning);
  const [latest] = page.versions;
  const progress = running ? `${sitePath(site.id)}/versions/${running.id}/progress` : '';
  const main = html`<h1>Overview</h1>
${livePanel(frame, page)}
${running ? runningPanel(running, page.log, { now, progress }) : null}
${!running && latest && isOpenFailure(latest, page) ? failedPanel(latest, frame, page) : null}
${placeholderPanel(frame, page)}
${previewList(frame, page)}
${versionList(frame, page)}`;
  const modules = running ? { modules: ['/account/scripts/progress.js'], refreshSeconds: 5 } : {};
  return sitePage(frame, 'overview', { title: 'Overview', main, ...modules });
}

/** Not once a version was restored instead. */
function isOpenFailure(latest: VersionShown, { live }: OverviewPage): boolean {
  const failedAt = new Date(latest.finished_at ?? latest.created_at);
  return latest.status === 'failed' && !(live?.restoredAt && live.restoredAt >= failedAt);
}

/** Texts of the template on the live pages. */
function placeholderPanel({ site }: SiteFrame, { placeholders }: OverviewPage): Html | null {
  if (placeholders.length === 0 || site.archived) return null;
  return html`<section class="panel" id="placeholders"><h2>Visitors see texts that nobody has filled in</h2>
<ul>${placeholders.map(({ text, path }) => html`<li>“${text}” on <a href="${site.address}${path}" rel="noopener noreferrer">${pageName(path)}</a></li>`)}</ul>
<p>Tell your agent what belongs there, or to remove it.</p></section>`;
}

/** The versions before those of the overview. */
export function olderVersionsPage(frame: SiteFrame, page: Pick<OverviewPage, 'versions' | 'older'>): WrittenPage {
  const main = html`<p class="back"><a href="${sitePath(frame.site.id)}">Overview</a></p>
<h1>Older versions</h1>
${versionList(frame, page)}`;
  return sitePage(frame, 'overview', { title: 'Older versions', main });
}

function livePanel(frame: SiteFrame, page: OverviewPage): Html {
  const { live } = page;
  const { site, now } = frame;
  if (site.archived) return archivedPanel(frame, live);
  const shown = live
    ? html`<p class="big">Version ${live.number} is live</p>
<p class="hint">Since ${since(new Date(live.live_at ?? live.created_at), now)}, ${live.restoredAt ? 'restored' : 'published'} by ${live.by}. <a href="${site.address}" rel="noopener noreferrer">Open the site</a></p>`
    : html`<p class="big">Nothing is published yet</p>
<p class="hint">Visitors see nothing at this address until the first version is published.</p>`;
  const blocked = site.blocked === null ? null : html`<p>Visitors do not see the site while it is blocked.</p>`;
  return html`<section class="panel">${shown}${blocked}${changesHtml(frame, page)}</section>`;
}

function changesHtml({ site, form }: SiteFrame, page: OverviewPage): Html {
  const { versions, live, isUnchanged } = page;
  const parts = partsOf(page.unpublished);
  // An upload does not contain what is not published yet.
  const coming = versions.find((version) => isRunning(version) && version.kind !== 'upload');
  if (coming) return html`<p class="hint">Version ${coming.number} follows. Visitors see it when it is ready.</p>`;
  if (parts.length === 0)
    return html`<p class="hint">${live ? 'Everything is published.' : 'There is nothing to publish yet. Ask your agent to build the site.'}</p>`;
  const [latest] = versions;
  if (latest?.status === 'failed' && isUnchanged)
    return html`<p>Visitors do not see ${list(parts)} yet: <a href="${sitePath(site.id)}/versions/${latest.id}">version ${latest.number} failed</a>, and nothing has changed since.</p>`;
  return html`<p>${live?.restoredAt ? 'Kept, but not in the restored version' : 'Not published yet'}: ${list(parts)}.</p>
${form({ action: `${sitePath(site.id)}/publish`, inline: true }, html`<button>Publish</button>`)}`;
}

const partsOf = ({ source, content, address }: OverviewPage['unpublished']): string[] => [
  ...(source ? ['changes to pages or photos'] : []),
  ...(content ? ['posts'] : []),
  ...(address ? ['the new address'] : []),
];

function archivedPanel({ site, form }: SiteFrame, live: OverviewPage['live']): Html {
  const again = live ? `Once it is online again, they see version ${live.number}.` : 'No version of it was published.';
  return html`<section class="panel"><p class="big">This site is archived</p>
<p class="hint">Visitors see that the site is closed. ${again}</p>
${site.role === 'owner' ? form({ action: `${sitePath(site.id, 'settings')}/unarchive`, inline: true }, html`<button>Put it online</button>`) : null}</section>`;
}

const list = (parts: readonly string[]) => new Intl.ListFormat('en').format(parts);

function previewList({ site, form, now }: SiteFrame, { previews, canCompare }: OverviewPage): Html | null {
  const used = previews.filter(({ status, holds_work }) => status !== 'empty' || holds_work);
  if (used.length === 0) return null;
  return html`<section><h2>Previews</h2>
<ul class="rows">${used.map(
    ({ slot, status, address, deployment_id, holds_work, behind, expires_at }) => html`<li>
<div><strong>${address ? html`<a href="${address}" rel="noopener noreferrer">Preview ${slot}</a>` : `Preview ${slot}`}</strong><small>${previewWords(status)}${behind ? ' · the site has changed since' : ''}${expires_at ? ` · expires ${relative(new Date(expires_at), now)}` : ''}</small></div>
<div class="actions">${status === 'draft' && canCompare && deployment_id ? form({ action: `${sitePath(site.id)}/versions/${deployment_id}/compare`, inline: true }, html`<button class="quiet small">Compare<span class="unseen"> preview ${slot} with the live version</span></button>`) : null}
${status === 'draft' && holds_work && !site.archived ? form({ action: `${sitePath(site.id)}/previews/${slot}/publish`, inline: true }, html`<button class="small">Publish<span class="unseen"> preview ${slot}</span></button>`) : null}</div>
</li>`,
  )}</ul></section>`;
}

const previewWords = (status: string) =>
  ({ empty: 'Not built yet', building: 'Building', draft: 'Ready to view', expired: 'Expired' })[status] ?? status;

function versionList(
  { site, now }: SiteFrame,
  { versions, older }: Pick<OverviewPage, 'versions' | 'older'>,
): Html | null {
  if (versions.length === 0 && older === null) return null;
  const rows = versions.map(
    (version) => html`<li>
<div><strong><a href="${sitePath(site.id)}/versions/${version.id}">Version ${version.number}</a></strong>${version.title ? html`<small>${version.title}</small>` : null}<small>${stateMark(version, site)} · ${kindWords(version.kind)} · ${when(version.created_at, now)} by ${version.by}</small></div>
${version.restorable && version.status !== 'live' && !site.archived ? html`<a class="button quiet small" href="${sitePath(site.id)}/versions/${version.id}#restore">Restore<span class="unseen"> version ${version.number}</span></a>` : null}
</li>`,
  );
  const shown =
    rows.length > 0 ? html`<ul class="rows">${rows}</ul>` : html`<p class="hint">Only previews were built.</p>`;
  return html`<section><h2>Versions</h2>
${shown}
${olderLink(sitePath(site.id), older)}</section>`;
}
