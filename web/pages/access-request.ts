/** The page where an owner answers an agent's access request. */
import type { Scope } from '#rules/scopes.ts';
import { type Html, html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import { relative } from '#web/times.ts';
import { codeField, type Form, fault } from './form.ts';
import { type SiteChoice, scopeFields } from './scope.ts';

export type RequestShown = {
  agentName: string;
  /** Network address. */
  askedFrom: string;
  askedAt: Date;
  expiresAt: Date;
};

export type ApprovalPage = {
  request: RequestShown;
  email: string;
  now: Date;
  /** The sites to choose from. */
  sites: SiteChoice[];
  /** What is ticked. */
  chosen: Scope;
  form: Form;
  fault?: string | undefined;
};

/** Names the agent and its network address. Shows no code: only a person who sees the agent's screen may approve. */
export function approvalPage(page: ApprovalPage): WrittenPage {
  const { request, email, form } = page;
  const main = html`<h1>Give “${request.agentName}” access to your websites?</h1>
<p class="lead">An agent named <strong>${request.agentName}</strong> is requesting access to the websites of ${email}. It will be able to
read them with visitors’ messages, bookings and payments, and to do what you choose here.</p>
${fault(page.fault)}
<div class="panel">
${requestFacts(request, page.now)}
${form(
  {},
  html`${scopeFields(page.sites, page.chosen)}
${codeField('Code shown by your agent (8 letters)')}
<p class="hint">No code in front of you? Then this isn’t your request; please refuse it.</p>
<button name="answer" value="approve">Give access</button>`,
)}
</div>
<div class="panel">
<p class="hint">Didn’t ask for this, or not sure? You can refuse without a code; nothing will change.</p>
${form({}, html`<button class="quiet" name="answer" value="deny">Refuse</button>`)}
</div>`;
  return writePage({ title: 'Give an agent access? – Frontage', main, layout: 'card', form: true });
}

export function requestFacts(request: RequestShown, now: Date): Html {
  return html`<dl class="facts">
<dt>Agent</dt><dd>${request.agentName}</dd>
<dt>Network address</dt><dd>${request.askedFrom}</dd>
<dt>Requested</dt><dd>${relative(request.askedAt, now)}</dd>
<dt>Expires</dt><dd>${relative(request.expiresAt, now)}</dd>
</dl>`;
}
