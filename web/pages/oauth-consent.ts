/** The OAuth consent page. */
import type { Scope } from '#rules/scopes.ts';
import { html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import { type Form, fault } from './form.ts';
import { type SiteChoice, scopeFields } from './scope.ts';

export type ConsentPage = {
  /** The name that the client claims. */
  name: string;
  /** Where approval redirects to: a host, or a description of a program on the owner's device. */
  leadsTo: string;
  /** Its sources for the page's CSP. */
  leadingTo: readonly string[];
  email: string;
  /** The sites to choose from. */
  sites: SiteChoice[];
  /** What is ticked. */
  chosen: Scope;
  form: Form;
  fault?: string | undefined;
};

/** Shows the client's name as a claim and the verified redirect host. */
export function consentPage(page: ConsentPage): WrittenPage {
  const { name, leadsTo, leadingTo, email, form, fault: wrong } = page;
  const main = html`<h1>Give ${name} access to your websites?</h1>
<p class="lead">${name} is requesting access as an agent of <strong>${email}</strong>: to read your websites with visitors’ messages, bookings and
payments, and to do what you choose here. Tokens, git passwords and links that it creates stop working when you disconnect it.</p>
${fault(wrong)}
<div class="panel">
<dl class="facts">
<dt>App</dt><dd>${name}</dd>
<dt>Returns you to</dt><dd>${leadsTo}</dd>
<dt>Access lasts until</dt><dd>you revoke it on your account page</dd>
</dl>
${form({}, html`${scopeFields(page.sites, page.chosen)}<button name="answer" value="approve">Give access</button>`)}
</div>
<div class="panel">
<p class="hint">Didn’t just connect an app, or don’t recognise the address it returns you to? Refuse; nothing will change.</p>
${form({}, html`<button class="quiet" name="answer" value="deny">Refuse</button>`)}
</div>`;
  return writePage({ title: 'Give an app access? – Frontage', main, layout: 'card', form: true, leadsTo: leadingTo });
}
