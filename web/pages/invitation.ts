/** The page behind a mailed invitation, for a person signed in with the invited address. */
import { html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import { day } from '#web/times.ts';
import type { InvitationShown } from './account.ts';
import type { Form } from './form.ts';

export type InvitationPage = InvitationShown & { form: Form; email: string };

export function invitationPage({ form, id, hostname, inviter, email, expiresAt }: InvitationPage): WrittenPage {
  const main = html`<h1>Edit ${hostname}?</h1>
<p class="lead"><strong>${inviter}</strong>, the owner of ${hostname}, invited <strong>${email}</strong> to edit this site with them. You and your agents can then edit it, view
its drafts and publish. Only the owner can manage payments and the site’s name.</p>
<div class="panel">
${form({ action: `/account/invitations/${id}/accept` }, html`<button>Accept</button>`)}
${form({ action: `/account/invitations/${id}/decline` }, html`<button class="quiet">Decline</button>`)}
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
