/** The page where a new account address is confirmed. */
import { html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import type { Form } from './form.ts';

export type ConfirmPage = { form: Form; email: string; accountName: string };

export function confirmPage({ form, email, accountName }: ConfirmPage): WrittenPage {
  const main = html`<h1>Is this your address?</h1>
<p class="lead">The account <strong>${accountName}</strong> will use <strong>${email}</strong>. Sign-in links and access requests
will be sent there instead of the old address.</p>
<div class="panel">
${form({}, html`<button>Use this address</button>`)}
<p class="hint">Don’t recognise this account? Close this page; nothing will change.</p>
</div>`;
  return writePage({ title: 'Confirm your address – Frontage', main, layout: 'card', form: true });
}
