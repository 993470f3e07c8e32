/** The page on which an owner answers a connector that a browser has brought. */

import { html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import { type Form, fault } from './form.ts';

export type ConnectorPage = {
  /** As it calls itself. */
  name: string;
  /** Where a yes leads: a host, or words for a program on the owner's device. */
  leadsTo: string;
  /** Sources of that, for the page's policy. */
  leadingTo: readonly string[];
  email: string;
  form: Form;
  fault?: string | undefined;
};

/** Shows the name as what it is, a claim, and the address, which is none. */
export function connectorPage({ name, leadsTo, leadingTo, email, form, fault: wrong }: ConnectorPage): WrittenPage {
  const main = html`<h1>Let ${name} in?</h1>
<p class="lead">It asks to work for <strong>${email}</strong> as an agent does: to change and publish your websites, read what visitors send, and
manage bookings, domains and payments. What it makes for itself meanwhile, tokens and git passwords, outlives its revocation: revoke that too.</p>
${fault(wrong)}
<div class="panel">
<dl class="facts">
<dt>Calls itself</dt><dd>${name}</dd>
<dt>Leads to</dt><dd>${leadsTo}</dd>
<dt>Until</dt><dd>You revoke its token on your page</dd>
</dl>
${form({}, html`<button name="answer" value="approve">Let it in</button>`)}
</div>
<div class="panel">
<p class="hint">You did not connect anything just now, or not from there? Then refuse: nothing changes.</p>
${form({}, html`<button class="quiet" name="answer" value="deny">Refuse</button>`)}
</div>`;
  return writePage({ title: 'Let a connector in? – Frontage', main, layout: 'sheet', form: true, leadsTo: leadingTo });
}
