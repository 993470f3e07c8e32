/** Home: what waits for the owner, and the sites. */
import { usualScope } from '#rules/scopes.ts';
import { type Html, html } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
import { type RequestShown, requestFacts } from '#web/pages/access-request.ts';
import { codeField } from '#web/pages/form.ts';
import { type SiteChoice, scopeFields } from '#web/pages/scope.ts';
import { day, relative } from '#web/times.ts';
import { accountPage, type Frame } from './frame.ts';
import { sitePath } from './tabs.ts';

export type SiteShown = {
  id: string;
  title: string;
  address: string;
  archived: boolean;
  /** When it is deleted for good, and the page that restores it; null if it is not being deleted. */
  deletion: { at: Date; restore: string } | null;
  /** Why the operator has blocked it. */
  blocked: string | null;
  live: boolean;
  openComments: number;
  role: 'owner' | 'collaborator';
};
/** A call that was refused, and the page on which the owner decides. */
export type RefusalShown = { agentName: string; attempt: string; at: Date; link: string };
/** `inviter`: name and address. */
export type InvitationShown = { id: string; hostname: string; inviter: string; expiresAt: Date };

export type HomePage = {
  requests: (RequestShown & { id: string })[];
  /** The sites that an agent can be given access to. */
  siteChoices: SiteChoice[];
  refusals: RefusalShown[];
  invitations: InvitationShown[];
  sites: SiteShown[];
};

export function homePage(frame: Frame, page: HomePage): WrittenPage {
  const main = html`<h1>Your sites</h1>
${page.requests.map((request) => requestPanel(request, frame, page))}
${page.refusals.length > 0 ? refusalList(frame, page) : null}
${page.invitations.length > 0 ? invitationList(frame, page) : null}
${siteList(page)}`;
  return accountPage(frame, 'home', { title: 'Your sites', main });
}

function requestPanel(request: HomePage['requests'][number], { form, now }: Frame, { siteChoices }: HomePage): Html {
  const action = `/account/requests/${request.id}`;
  return html`<section>
<h2>“${request.agentName}” is requesting access</h2>
<div class="panel">
${requestFacts(request, now)}
${form({ action }, html`${scopeFields(siteChoices, usualScope)}${codeField('Code shown by your agent (8 letters)')}<button name="answer" value="approve">Give access</button>`)}
${form({ action }, html`<button class="quiet" name="answer" value="deny">Refuse</button>`)}
</div>
</section>`;
}

function refusalList({ now }: Frame, { refusals }: HomePage): Html {
  return html`<section>
<h2>Your agents ask for more</h2>
<ul class="rows">${refusals.map(
    ({ agentName, attempt, at, link }) => html`<li>
<div><strong>${agentName}</strong><small>Was refused ${relative(at, now)}: ${attempt}</small></div>
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

function siteList({ sites }: HomePage): Html {
  if (sites.length === 0) {
    return html`<p class="panel empty">No sites yet. Ask your agent to create the first one.</p>`;
  }
  return html`<ul class="rows">${sites.map(
    (site) => html`<li>
<div><strong>${site.deletion ? site.title : html`<a href="${sitePath(site.id)}">${site.title}</a>`}</strong>${siteLine(site)}${site.blocked === null ? null : html`<small>Blocked by the operator of this service: ${site.blocked}</small>`}</div>
${site.openComments > 0 ? html`<small>${site.openComments} open ${site.openComments === 1 ? 'comment' : 'comments'}</small>` : null}
${site.role === 'collaborator' ? html`<a class="button quiet small" href="/account/sites/${site.id}/leave">Leave</a>` : null}
</li>`,
  )}</ul>`;
}

function siteLine({ address, archived, deletion, live, role }: SiteShown): Html {
  const host = address.replace(/^https?:\/\//, '');
  if (deletion)
    return html`<small>${host} · will be deleted on ${day(deletion.at)} · <a href="${deletion.restore}">Restore</a></small>`;
  const state = archived ? ' · archived' : live ? '' : ' · not published yet';
  return html`<small><a href="${address}" rel="noopener noreferrer">${host}</a>${state}${role === 'collaborator' ? ' · collaborator' : ''}</small>`;
}
