/** Comment threads of a site, with their pictures and replies. */

import { when } from '#web/console/versions/versions.ts';
import { type Html, html, linesHtml } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
import { pageName } from '#web/page-names.js';
import { fieldsOf } from './fields.ts';
import { type SiteFrame, sitePage } from './frame.ts';
import { choices } from './parts.ts';
import { sitePath } from './tabs.ts';

export type ThreadShown = {
  id: string;
  status: 'open' | 'resolved';
  page: string;
  position: { quote: string | null } | null;
  screenshot: { url: string } | { missing: string };
  messages: {
    author: string;
    author_kind: 'owner' | 'collaborator' | 'agent';
    author_name: string | null;
    body: string;
    created_at: string;
  }[];
  changed_at: string;
};

/** `query`: of the page's address, with which a reply answers with the same list. */
export type CommentsPage = {
  status: 'open' | 'resolved';
  query: string;
  threads: ThreadShown[];
  /** Of their pages, by path. */
  titles: ReadonlyMap<string, string>;
  next: string | null;
};

export function commentsPage(frame: SiteFrame, { status, query, threads, titles, next }: CommentsPage): WrittenPage {
  const path = sitePath(frame.site.id, 'comments');
  const collecting = html`To collect comments, <a href="${sitePath(frame.site.id, 'settings')}#reviews">create a review link</a>.`;
  const empty = status === 'open' ? html`No open comments. ${collecting}` : 'No resolved comments.';
  const main = html`<h1>Comments</h1>
${choices('Status', [
  { href: path, words: 'Open', current: status === 'open' },
  { href: `${path}?status=resolved`, words: 'Resolved', current: status === 'resolved' },
])}
${threads.length === 0 ? html`<p class="panel empty">${empty}</p>` : threads.map((thread) => threadPanel(thread, frame, { query, title: titles.get(thread.page) }))}
${next === null ? null : html`<p><a href="${path}?status=${status}&amp;cursor=${encodeURIComponent(next)}">Older comments</a></p>`}`;
  return sitePage(frame, 'comments', { title: 'Comments', main });
}

const kinds = { owner: 'owner of the site', collaborator: 'collaborator', agent: 'agent' };

function threadPanel(
  thread: ThreadShown,
  frame: SiteFrame,
  { query, title }: { query: string; title: string | undefined },
): Html {
  const { form, site } = frame;
  const path = `${sitePath(site.id, 'comments')}/${thread.id}`;
  const reply = `${path}/reply${query}`;
  const change = thread.status === 'open' ? (['resolve', 'Resolve'] as const) : (['reopen', 'Reopen'] as const);
  return html`<article class="panel thread" id="${thread.id}">
<h2>On <a href="${site.address}${thread.page}" rel="noopener noreferrer">${title ?? pageName(thread.page)}</a>${title === undefined ? null : html` <small>${pageName(thread.page)}</small>`}</h2>
${thread.position?.quote ? html`<blockquote>${thread.position.quote}</blockquote>` : null}
${'url' in thread.screenshot ? html`<a class="picture" href="${path}/picture"><img src="${path}/picture" alt="The page when the comment was written" loading="lazy" width="320" height="200"></a>` : null}
<ol>${thread.messages.map((message) => messageItem(message, frame))}</ol>
${form({ action: reply }, html`${fieldsOf(frame, reply)({ name: 'message', label: 'Reply', type: 'textarea', required: true, max: 4000, hint: replyHint(thread) })}<button class="small">Send</button>`)}
${form({ action: `${path}/${change[0]}`, inline: true }, html`<button class="quiet small">${change[1]}</button>`)}
</article>`;
}

const replyHint = ({ status }: ThreadShown): string =>
  `It is shown here and in the comments on the site, to your agents and to people with a review link.${status === 'open' ? ' The comment stays open until you choose Resolve.' : ''}`;

function messageItem(
  { author, author_kind: kind, author_name: name, body, created_at }: ThreadShown['messages'][number],
  { now }: SiteFrame,
): Html {
  // A name that a reviewer typed proves nothing, so the account whose link it was is shown beside it.
  const by =
    name === null ? kinds[kind] : kind === 'agent' ? `agent of ${author}` : `with a review link from ${author}`;
  return html`<li><p><strong>${name ?? author}</strong> <small class="by">${by} · ${when(created_at, now)}</small></p><p>${linesHtml(body)}</p></li>`;
}
