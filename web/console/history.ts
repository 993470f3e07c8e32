/** What was done to a site and to the account, by whom, newest first. */

import { when } from '#web/console/versions/versions.ts';
import { type Html, html } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
import { agentHtml } from './agents.ts';
import { accountPage, type Frame, type SiteFrame, sitePage } from './frame.ts';
import { choices } from './parts.ts';
import { sitePath } from './tabs.ts';

export type EntryShown = {
  at: string;
  account: { id: string; name: string | null };
  via: { kind: string; name: string | null };
  subject: { name: string | null };
  detail: Record<string, unknown>;
  /** What was done, in a sentence. */
  says: string;
  /** The page of what it was done to, while that exists. */
  path: string | null;
};

/** How far back the list goes, by the words of its filter. */
export const spans = [
  ['', 'Everything', null],
  ['day', 'Last 24 hours', 1],
  ['week', 'Last 7 days', 7],
  ['month', 'Last 30 days', 30],
] as const;

/** `agents`: the paths of the pages of the reader's agents, by name. */
export type HistoryPage = {
  entries: EntryShown[];
  agents: ReadonlyMap<string, string>;
  span: string;
  next: string | null;
};

export const accountHistoryPath = '/account/history';

/** The owner's leads to what belongs to no site. */
export function historyPage(frame: SiteFrame, page: HistoryPage): WrittenPage {
  const elsewhere = html` What was done with agents, payout accounts and domains without a site is in <a href="${accountHistoryPath}">your account’s history</a>.`;
  const main = html`<div class="head"><h1>History</h1>
<p class="lead">What was done to this site in the last year, and by whom. What visitors do is not listed.${frame.site.role === 'owner' ? elsewhere : null}</p></div>
${list(frame, sitePath(frame.site.id, 'history'), page)}`;
  return sitePage(frame, 'history', { title: 'History', main });
}

export function accountHistoryPage(frame: Frame, page: HistoryPage): WrittenPage {
  const main = html`<div class="head"><h1>Your account’s history</h1>
<p class="lead">What was done in the last year to your account, your domains and your sites, and what you did on sites of others.</p></div>
${list(frame, accountHistoryPath, page)}`;
  return accountPage(frame, null, { title: 'Your account’s history', main });
}

function list(frame: Frame, path: string, { entries, agents, span, next }: HistoryPage): Html {
  const periods = spans.map(([name, words]) => ({
    href: name ? `${path}?since=${name}` : path,
    words,
    current: name === span,
  }));
  return html`${choices('Period', periods)}
${entries.length === 0 ? html`<p class="panel empty">Nothing was done in this period.</p>` : html`<ol class="rows">${entries.map((entry) => item(entry, frame, agents))}</ol>`}
${next === null ? null : html`<p><a href="${path}?since=${span}&amp;cursor=${encodeURIComponent(next)}">Older</a></p>`}`;
}

function item(entry: EntryShown, { now }: Frame, agents: HistoryPage['agents']): Html {
  const { at, subject, says, path } = entry;
  return html`<li><div><strong>${path === null ? says : html`<a href="${path}">${says}</a>`}</strong><small>${subject.name ? html`${subject.name} · ` : null}${actor(entry, agents)} · ${when(at, now)}</small></div></li>`;
}

/** An upload link is its owner's, but others use it. */
function actor(
  { account: { name }, via: { kind, name: token }, detail }: EntryShown,
  agents: HistoryPage['agents'],
): Html | string {
  if (detail.source === 'upload_link') return 'somebody with an upload link';
  if (kind === 'platform') return 'the service';
  const who = name ?? 'another account';
  if (kind === 'git') return `${who}, with git`;
  return kind === 'token' ? html`${agentHtml(token ?? 'an agent', agents)}, an agent of ${who}` : who;
}
