/** The pages behind mails about an invitation: for a person signed in with the invited address, and for the site's owner. */

import type { InvitationShown } from '#web/console/home/home.ts';
import { html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import { day } from '#web/times.ts';
import type { Form } from './form.ts';

export type InvitationPage = InvitationShown & { form: Form; email: string };

export function invitationPage({ form, id, hostname, inviter, email, expiresAt }: InvitationPage): WrittenPage {
  const main = html`<h1>Edit ${hostname}?</h1>
<p class="lead"><strong>${inviter}</strong>, the owner of ${hostname}, invited <strong>${email}</strong> to edit this site with them. You and your agents can then edit it, view
its drafts and publish. Only the owner can refund payments, invite others, change the site’s address, archive it or delete it.</p>
<div class="panel">
${form({ action: `/account/invitations/${id}/accept` }, html`<button>Accept</button>`)}
<a class="button quiet" href="/account/invitations/${id}/decline">Decline</a>
<p class="hint">The invitation expires on ${day(expiresAt)}.</p>
</div>`;
  return writePage({
    title: `Edit ${hostname}? – Frontage`,
    main,
    layout: 'card',
    bar: html`<a href="/account">Your account</a>`,
    form: true,
  });
}

export type InvitedPage = {
  form: Form;
  action: string;
  hostname: string;
  email: string;
  invitedAt: Date;
  /** Whether they work on the site already. */
  accepted: boolean;
};

/** For the owner: it ends what the invitation gave. */
export function invitedPage({ form, action, hostname, email, invitedAt, accepted }: InvitedPage): WrittenPage {
  const state = accepted
    ? html`They accepted, and can edit it, see its drafts and publish.`
    : html`They have not accepted yet.`;
  const main = html`<h1>End this access?</h1>
<p class="lead"><strong>${email}</strong> was invited to edit <strong>${hostname}</strong> on ${day(invitedAt)}. ${state}</p>
<div class="panel">
${form({ action }, html`<button>End their access</button>`)}
<p class="hint">It ends at once, with their git passwords, upload links and review links. To let them edit the website, close this page; nothing will
change.</p>
</div>
<p class="hint">An agent that you do not recognise? Revoke its token on <a href="/account">your account page</a>.</p>`;
  return writePage({
    title: 'End this access? – Frontage',
    main,
    layout: 'card',
    bar: html`<a href="/account">Your account</a>`,
    form: true,
  });
}
