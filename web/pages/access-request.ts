/** The page on which an owner answers an agent's request for access. */

import { type Html, html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import { relative } from '#web/times.ts';
import { codeField, type Form, fault } from './form.ts';

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
  form: Form;
  fault?: string | undefined;
};

/** Names the agent and where it asks from; shows no code, for only who sees the agent's screen may approve. */
export function approvalPage(page: ApprovalPage): WrittenPage {
  const { request, email, form } = page;
  const main = html`<h1>Let ${request.agentName} in?</h1>
<p class="lead">An agent that calls itself <strong>${request.agentName}</strong> asks to work on the websites of ${email}: to change
and publish them, read what visitors send, and manage bookings, domains and payments.</p>
${fault(page.fault)}
<div class="panel">
${requestFacts(request, page.now)}
${form(
  {},
  html`${codeField('The code that your agent shows you')}
<p class="hint">Eight letters. If you see no code in front of you, this request is not yours: refuse it.</p>
<button name="answer" value="approve">Let it in</button>`,
)}
</div>
<div class="panel">
<p class="hint">You did not ask for this, or are not sure? Refusing needs no code and changes nothing.</p>
${form({}, html`<button class="quiet" name="answer" value="deny">Refuse</button>`)}
</div>`;
  return writePage({ title: 'Let an agent in? – Frontage', main, layout: 'sheet', form: true });
}

export function requestFacts(request: RequestShown, now: Date): Html {
  return html`<dl class="facts">
<dt>Agent</dt><dd>${request.agentName}</dd>
<dt>Asked from</dt><dd>${request.askedFrom}</dd>
<dt>Asked</dt><dd>${relative(request.askedAt, now)}</dd>
<dt>Ends</dt><dd>${relative(request.expiresAt, now)}</dd>
</dl>`;
}
