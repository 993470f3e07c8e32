/** The owner's account page: sites, domains, payouts, access, and requests to answer. */

import { type Scope, usualScope } from '#rules/scopes.ts';
import { type Html, html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import { day, relative } from '#web/times.ts';
import { type CalendarFeedShown, calendarFeedList, type GitPasswordsShown, gitPasswordList } from './access-lists.ts';
import { type RequestShown, requestFacts } from './access-request.ts';
import { type DomainShown, domainList } from './domains.ts';
import { codeField, type Form, fault } from './form.ts';
import { type PayoutsShown, payoutSections } from './payouts.ts';
import { type PlanShown, planSection } from './plan.ts';
import { type SiteChoice, scopeFields, scopeLine } from './scope.ts';

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
export type TokenShown = {
  id: string;
  name: string;
  lastFour: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  expiresAt: Date | null;
  scope: Scope;
};
/** A call that was refused, and the page on which the owner decides. */
export type RefusalShown = { agentName: string; attempt: string; at: Date; link: string };
/** `inviter`: name and address. */
export type InvitationShown = { id: string; hostname: string; inviter: string; expiresAt: Date };

export type AccountPage = {
  form: Form;
  now: Date;
  name: string;
  email: string;
  /** A change of the address that awaits confirmation. */
  pending: { email: string; waitingFor: 'old' | 'new'; expiresAt: Date } | null;
  requests: (RequestShown & { id: string })[];
  /** The sites that an agent can be given access to. */
  siteChoices: SiteChoice[];
  refusals: RefusalShown[];
  invitations: InvitationShown[];
  payouts: PayoutsShown;
  sites: SiteShown[];
  domains: DomainShown[];
  /** The kinds of sandboxes that builds run in. */
  sandboxes: string[];
  tokens: TokenShown[];
  gitPasswords: GitPasswordsShown;
  calendarFeeds: CalendarFeedShown[];
  /** Null if billing is off. */
  plan: PlanShown | null;
  fault?: string | undefined;
};

export function accountPage(page: AccountPage): WrittenPage {
  const { form, name, email } = page;
  const main = html`<div class="head">
<h1>Your account</h1>
<p class="lead">${name} · ${email}</p>
</div>
${fault(page.fault)}
${page.requests.map((request) => requestPanel(request, page))}
${page.refusals.length > 0 ? refusalList(page) : null}
${page.invitations.length > 0 ? invitationList(page) : null}
${siteList(page)}
${page.domains.length > 0 ? domainList(page.domains) : null}
${payoutSections(page.payouts, page)}
${page.plan ? planSection(page.plan, form) : null}
${tokenList(page)}
${page.gitPasswords.passwords.length > 0 ? gitPasswordList(page.gitPasswords, page) : null}
${page.calendarFeeds.length > 0 ? calendarFeedList(page.calendarFeeds, page) : null}
${addressSection(page)}
<p class="hint"><a href="/account/mails">Choose your e-mails</a></p>
<p class="hint"><a href="/account/delete">Delete this account</a></p>
${page.sandboxes.length > 0 ? buildNote(page.sandboxes) : null}`;
  const bar = form({ action: '/signout', inline: true }, html`<button class="quiet small">Sign out</button>`);
  return writePage({ title: 'Your account – Frontage', main, layout: 'dashboard', bar, form: true });
}

function requestPanel(request: AccountPage['requests'][number], { form, now, siteChoices }: AccountPage): Html {
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

function refusalList({ refusals, now }: AccountPage): Html {
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

function invitationList({ invitations, form, now }: AccountPage): Html {
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

function siteList({ sites }: AccountPage): Html {
  if (sites.length === 0) {
    return html`<section><h2>Sites</h2><p class="panel empty">No sites yet. Ask your agent to create the first one.</p></section>`;
  }
  return html`<section>
<h2>Sites</h2>
<ul class="rows">${sites.map(
    (site) => html`<li>
<div><strong>${site.title}</strong>${siteLine(site)}${site.blocked === null ? null : html`<small>Blocked by the operator of this service: ${site.blocked}</small>`}</div>
${site.openComments > 0 ? html`<small>${site.openComments} open ${site.openComments === 1 ? 'comment' : 'comments'}</small>` : null}
${site.role === 'collaborator' ? html`<a class="button quiet small" href="/account/sites/${site.id}/leave">Leave</a>` : null}
</li>`,
  )}</ul>
</section>`;
}

function siteLine({ address, archived, deletion, live, role }: SiteShown): Html {
  const host = address.replace(/^https?:\/\//, '');
  if (deletion)
    return html`<small>${host} · will be deleted on ${day(deletion.at)} · <a href="${deletion.restore}">Restore</a></small>`;
  const state = archived ? ' · archived' : live ? '' : ' · not published yet';
  return html`<small><a href="${address}" rel="noopener noreferrer">${host}</a>${state}${role === 'collaborator' ? ' · collaborator' : ''}</small>`;
}

function tokenList({ tokens, form, now }: AccountPage): Html {
  const rows = tokens.map(
    ({ id, name, lastFour, createdAt, lastUsedAt, expiresAt, scope }) => html`<li>
<div><strong>${name}</strong><small>…${lastFour} · since ${day(createdAt)} · ${lastUsedAt ? `last used ${relative(lastUsedAt, now)}` : 'never used'}${expiry(expiresAt, now)}</small><small>${scopeLine(scope)}</small></div>
${form({ action: `/account/tokens/${id}/revoke`, inline: true }, html`<button class="quiet small">Revoke</button>`)}
</li>`,
  );
  return html`<section>
<h2>Connected agents and tokens</h2>
<p class="hint">Each entry gives an agent or a program access to your account. Revoking takes effect immediately.</p>
${tokens.length > 0 ? html`<ul class="rows">${rows}</ul>` : html`<p class="panel empty">No agents have access.</p>`}
</section>`;
}

function addressSection({ form, email, pending, now }: AccountPage): Html {
  const action = '/account/address';
  if (pending) {
    const from = pending.waitingFor === 'old' ? email : pending.email;
    return html`<section>
<h2>E-mail address</h2>
<div class="panel">
<p>The change from ${email} to <strong>${pending.email}</strong> waits for a confirmation. Open the e-mail that we sent to ${from}. The request expires ${relative(pending.expiresAt, now)}.</p>
${form({ action }, html`<button class="quiet" name="answer" value="withdraw">Cancel the change</button>`)}
</div>
</section>`;
  }
  return html`<section>
<h2>E-mail address</h2>
<div class="panel">
<p class="hint">Sign-in links and access requests go to ${email}. A change needs a confirmation from this address first, and then from the new one.</p>
${form({ action }, html`<label>New e-mail address<input type="email" name="email" required maxlength="254" autocomplete="email"></label><button class="quiet">Change my address</button>`)}
</div>
</section>`;
}

function buildNote(sandboxes: string[]): Html {
  const enclosing = sandboxes.filter((kind) => kind !== 'unprotected').sort();
  const protectedBy = enclosing.length > 0 ? html`Your sites are built in a sandbox (${enclosing.join(', ')}).` : null;
  if (enclosing.length === sandboxes.length) return html`<p class="hint">${protectedBy}</p>`;
  return html`<p class="hint">${protectedBy} <strong>This service builds ${enclosing.length > 0 ? 'some ' : ''}sites without a sandbox.</strong> Their code runs with the rights of the person who runs the service, so publish only code that you trust.</p>`;
}

function expiry(expiresAt: Date | null, now: Date): string {
  return expiresAt ? ` · expires ${relative(expiresAt, now)}` : '';
}
