/** Home: what waits for the owner, and their sites. */
import { readFileSync } from 'node:fs';
import type { Scope } from '#rules/scopes.ts';
import { accountPage, type Frame } from '#web/console/frame.ts';
import { type Html, html } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
import { type RequestShown, requestFacts } from '#web/pages/access-request.ts';
import { codeField } from '#web/pages/form.ts';
import { type SiteChoice, scopeFields } from '#web/pages/scope.ts';
import { relative } from '#web/times.ts';
import { type SiteCard, siteList } from './site-cards.ts';
import { type WaitingItem, waitingList } from './waiting.ts';

const style = readFileSync(new URL('./home.css', import.meta.url), 'utf8');

/** A call that was refused, and the page on which the owner decides. */
export type RefusalShown = { agentName: string; attempt: string; at: Date; link: string };
/** `inviter`: name and address. */
export type InvitationShown = { id: string; hostname: string; inviter: string; expiresAt: Date };

export type HomePage = {
  /** `chosen`: what is ticked. */
  requests: (RequestShown & { id: string; chosen: Scope })[];
  /** The sites that an agent can be given access to. */
  siteChoices: SiteChoice[];
  refusals: RefusalShown[];
  invitations: InvitationShown[];
  waiting: WaitingItem[];
  sites: SiteCard[];
};

export function homePage(frame: Frame, page: HomePage): WrittenPage {
  const { requests, refusals, invitations, waiting, sites } = page;
  const waits = [requests, refusals, invitations, waiting].some(({ length }) => length > 0);
  const own = new Set(sites.filter(({ deletion }) => !deletion).map(({ id }) => id));
  const main = html`<h1>Home</h1>
${requests.map((request) => requestPanel(request, frame, page))}
${refusals.length > 0 ? refusalList(frame, page) : null}
${invitations.length > 0 ? invitationList(frame, page) : null}
${waiting.length > 0 ? waitingList(waiting, frame, own) : null}
${waits || sites.length === 0 ? null : html`<p class="hint">Nothing is waiting for you.</p>`}
<section><h2>Your sites</h2>
${siteList(sites, frame.now)}</section>`;
  return accountPage(frame, 'home', { title: 'Home', main, style });
}

function requestPanel(request: HomePage['requests'][number], { form, now }: Frame, { siteChoices }: HomePage): Html {
  const action = `/account/requests/${request.id}`;
  return html`<section>
<h2>“${request.agentName}” is requesting access</h2>
<div class="panel">
${requestFacts(request, now)}
${form({ action }, html`${scopeFields(siteChoices, request.chosen)}${codeField('Code shown by your agent (8 letters)')}<button name="answer" value="approve">Give access</button>`)}
${form({ action }, html`<button class="quiet" name="answer" value="deny">Refuse</button>`)}
</div>
</section>`;
}

function refusalList({ now }: Frame, { refusals }: HomePage): Html {
  return html`<section>
<h2>Your agents ask for more access</h2>
<ul class="rows">${refusals.map(
    ({ agentName, attempt, at, link }) => html`<li>
<div><strong>${agentName}</strong><small>Refused ${relative(at, now)}: ${attempt}</small></div>
<a class="button quiet small" href="${link}">Decide</a>
</li>`,
  )}</ul>
</section>`;
}

function invitationList({ form, now }: Frame, { invitations }: HomePage): Html {
  return html`<section>
<h2>Invitations</h2>
<ul class="rows">${invitations.map(
    ({ id, hostname, inviter, expiresAt }) => html`<li>
<div><strong>${hostname}</strong><small>${inviter} has invited you to edit this site. The invitation expires ${relative(expiresAt, now)}.</small></div>
${form({ action: `/account/invitations/${id}/accept`, inline: true }, html`<button class="small">Accept</button>`)}
<a class="button quiet small" href="/account/invitations/${id}/decline">Decline</a>
</li>`,
  )}</ul>
</section>`;
}
