/** The page that a mailed invitation leads to, for who is signed in with the invited address. */

import { html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import { day } from '#web/times.ts';
import type { Form } from './form.ts';

export type InvitationPage = { form: Form; action: string; hostname: string; email: string; expiresAt: Date };

export function invitationPage({ form, action, hostname, email, expiresAt }: InvitationPage): WrittenPage {
  const main = html`<h1>Work on ${hostname}?</h1>
<p class="lead">Its owner invites <strong>${email}</strong> to work on this site with them. You and your agents may then edit it, look at
its drafts and publish. Money and the site’s name stay the owner’s.</p>
<div class="panel">
${form({ action }, html`<button>Accept</button>`)}
<p class="hint">The invitation holds until ${day(expiresAt)}. You do not want it? Close this page; nothing has happened.</p>
</div>`;
  return writePage({
    title: `Work on ${hostname}? – Frontage`,
    main,
    layout: 'sheet',
    bar: html`<a href="/account">Your account</a>`,
    form: true,
  });
}
