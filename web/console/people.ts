/** The people who work on a site, and the invitations of others. */
import { type Html, html } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
import { day, relative } from '#web/times.ts';
import { fieldsOf } from './fields.ts';
import { type SiteFrame, sitePage, siteQuestion } from './frame.ts';
import { button } from './parts.ts';
import { sitePath } from './tabs.ts';

/** A person, as the API answers them. */
export type MemberShown = {
  account_id: string;
  email: string;
  name: string;
  role: 'owner' | 'collaborator';
  since: string;
};
export type InvitationShown = {
  id: string;
  email: string;
  status: 'open' | 'accepted' | 'declined' | 'withdrawn' | 'expired';
  expires_at: string;
  mail: 'sent' | 'queued' | 'not_sent';
};

export type PeopleView = {
  members: readonly MemberShown[];
  /** The account of the reader. */
  self: string;
  /** Only the owner sees them. */
  invitations: readonly InvitationShown[];
  /** Whether invitations can be e-mailed. */
  mails: boolean;
};

export function peoplePage(frame: SiteFrame, { members, self, invitations, mails }: PeopleView): WrittenPage {
  const isOwner = frame.site.role === 'owner';
  const main = html`<h1>People</h1>
<p class="lead">Collaborators can change and publish the site, answer messages and manage bookings. They cannot refund payments, archive or delete the site, or invite others.</p>
<ul class="rows">${members.map((member) => memberRow(frame, member, { self, isOwner }))}</ul>
${isOwner && invitations.length > 0 ? html`<section><h2>Invitations</h2><ul class="rows">${invitations.map((one) => invitationRow(frame, one))}</ul></section>` : null}
${isOwner && mails && !frame.site.archived ? inviteForm(frame) : null}`;
  return sitePage(frame, 'people', { title: 'People', main });
}

function memberRow(
  frame: SiteFrame,
  { account_id: id, email, name, role, since }: MemberShown,
  { self, isOwner }: { self: string; isOwner: boolean },
): Html {
  const path = `${sitePath(frame.site.id, 'people')}/${id}`;
  const isSelf = id === self;
  return html`<li><div><strong>${name}${isSelf ? ' (you)' : null}</strong><small>${email} · ${role === 'owner' ? 'Owner' : 'Collaborator'} since ${day(new Date(since))}</small></div>
${isOwner && !isSelf ? html`<a class="button quiet small" href="${path}/remove">Remove</a>` : null}
${isSelf && role === 'collaborator' ? html`<a class="button quiet small" href="${sitePath(frame.site.id)}/leave">Leave this site</a>` : null}</li>`;
}

function invitationRow(
  { form, site, now }: SiteFrame,
  { id, email, status, expires_at: expires, mail }: InvitationShown,
): Html {
  const words =
    status === 'expired'
      ? 'Expired. Withdraw it to invite this address again.'
      : `Expires ${relative(new Date(expires), now)}${mail === 'not_sent' ? '. The e-mail could not be sent: ask them to sign in here with this address' : ''}.`;
  return html`<li><div><strong>${email}</strong><small>${words}</small></div>
${button(form, `${sitePath(site.id, 'people')}/invitations/${id}/withdraw`, 'Withdraw')}</li>`;
}

function inviteForm(frame: SiteFrame): Html {
  const action = `${sitePath(frame.site.id, 'people')}/invite`;
  const field = fieldsOf(frame, action);
  const inside = html`${field({ name: 'email', label: 'E-mail address', type: 'email', required: true, max: 254, autocomplete: 'off', hint: 'They get a link that works for 14 days. They do not need an account yet.' })}<button>Invite</button>`;
  return html`<section><h2>Invite somebody</h2><div class="panel">${frame.form({ action }, inside)}</div></section>`;
}

export function memberRemovalPage(frame: SiteFrame, { account_id: id, name }: MemberShown): WrittenPage {
  const base = sitePath(frame.site.id, 'people');
  const asked = {
    title: `Remove ${name}?`,
    text: 'They and their agents lose access at once. Links and passwords that they created for this site end too. What they published stays.',
    action: `${base}/${id}/remove`,
    button: 'Remove',
    back: base,
  };
  return siteQuestion(frame, 'people', asked);
}
