/** The page that confirms a new address of an account. */

import { html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import type { Form } from './form.ts';

export type ConfirmPage = { form: Form; email: string; accountName: string };

export function confirmPage({ form, email, accountName }: ConfirmPage): WrittenPage {
  const main = html`<h1>Is this your address?</h1>
<p class="lead">From now on, <strong>${email}</strong> is to be the address of the account <strong>${accountName}</strong>: links to sign in
and agents’ requests go there, and no longer to the old one.</p>
<div class="panel">
${form({}, html`<button>Use this address</button>`)}
<p class="hint">You know nothing of this account? Close this page; nothing has happened.</p>
</div>`;
  return writePage({ title: 'Confirm your address – Frontage', main, layout: 'sheet', form: true });
}
