/** Agents and programs with access to the account, and what they hold. */
import type { Scope } from '#rules/scopes.ts';
import { type Html, html } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
import {
  type CalendarFeedShown,
  calendarFeedList,
  type GitPasswordsShown,
  gitPasswordList,
} from '#web/pages/access-lists.ts';
import { type SiteChoice, scopeLine } from '#web/pages/scope.ts';
import { day, relative } from '#web/times.ts';
import { accountPage, type Frame } from './frame.ts';
import { sitePath } from './tabs.ts';

export type TokenShown = {
  id: string;
  name: string;
  lastFour: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  expiresAt: Date | null;
  scope: Scope;
};

export type AgentsPage = {
  tokens: TokenShown[];
  gitPasswords: GitPasswordsShown;
  calendarFeeds: CalendarFeedShown[];
  sites: readonly SiteChoice[];
};

/** The name of an agent, which leads to its page while it has access. `paths`: of the pages, by name. */
export function agentHtml(name: string, paths: ReadonlyMap<string, string>): Html | string {
  const path = paths.get(name);
  return path === undefined ? name : html`<a href="${path}">${name}</a>`;
}

export function agentsPage(frame: Frame, page: AgentsPage): WrittenPage {
  const main = html`<div class="bar"><h1>Agents</h1><div class="actions"><a class="button small" href="/account/agents/connect">Connect an agent</a></div></div>
${tokenList(frame, page)}
${page.gitPasswords.passwords.length > 0 ? gitPasswordList(page.gitPasswords, frame) : null}
${page.calendarFeeds.length > 0 ? calendarFeedList(page.calendarFeeds, frame) : null}
${otherAccess(page)}`;
  return accountPage(frame, 'agents', { title: 'Agents', main });
}

/** Each kind of access that this page does not list. */
function otherAccess({ sites }: AgentsPage): Html {
  const rows = sites.map(
    ({ id, title }) => html`<li><div><strong>${title}</strong></div>
<p class="links"><a href="${sitePath(id, 'people')}">People<span class="unseen"> of ${title}</span></a> <a href="${sitePath(id, 'settings')}#uploads">Upload and review links<span class="unseen"> of ${title}</span></a></p></li>`,
  );
  return html`<section><h2>Other access</h2>
<p class="hint">People whom you invited, and links for others, have access to one site. <a href="/account/settings#browsers">Browsers in which you are signed in</a> have access to everything.</p>
${rows.length > 0 ? html`<ul class="rows">${rows}</ul>` : null}</section>`;
}

function tokenList({ now }: Frame, { tokens }: AgentsPage): Html {
  const rows = tokens.map(
    ({ id, name, lastFour, createdAt, lastUsedAt, expiresAt, scope }) => html`<li>
<div><strong><a href="/account/agents/${id}">${name}</a></strong><small>Token ends with ${lastFour} · since ${day(createdAt)} · ${lastUsedAt ? `last used ${relative(lastUsedAt, now)}` : 'never used'}${expiry(expiresAt, now)}</small><small>${scopeLine(scope)}</small></div>
<a class="button quiet small" href="/account/agents/${id}/revoke" aria-label="Revoke the access of ${name}">Revoke</a>
</li>`,
  );
  return html`<section>
<h2>Connected agents and tokens</h2>
<p class="hint">Each of these agents and programs has access to your account with a token, which is its password. Revoking takes effect immediately.</p>
${tokens.length > 0 ? html`<ul class="rows">${rows}</ul>` : html`<p class="panel empty">No agent has access yet. <a href="/account/agents/connect">Connect one</a></p>`}
</section>`;
}

function expiry(expiresAt: Date | null, now: Date): string {
  return expiresAt ? ` · expires ${relative(expiresAt, now)}` : '';
}
