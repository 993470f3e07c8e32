/** The page behind a mailed invitation, for a person signed in with the invited address. */
import { html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import { day } from '#web/times.ts';
import type { Form } from './form.ts';

export type InvitationPage = { form: Form; action: string; hostname: string; email: string; expiresAt: Date };

export function invitationPage({ form, action, hostname, email, expiresAt }: InvitationPage): WrittenPage {
  const main = html`<h1>Edit ${hostname}?</h1>
<p class="lead">The owner of ${hostname} invited <strong>${email}</strong> to edit this site with them. You and your agents can then edit it, view
its drafts and publish. Only the owner can manage payments and the site’s name.</p>
<div class="panel">
${form({ action }, html`<button>Accept</button>`)}
<p class="hint">The invitation expires on ${day(expiresAt)}. Don’t want it? Close this page; nothing will change.</p>
</div>`;
  return writePage({
    title: `Edit ${hostname}? – Frontage`,
    main,
    layout: 'card',
    bar: html`<a href="/account">Your account</a>`,
    form: true,
  });
}
