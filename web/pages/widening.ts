/** The page on which an owner allows an agent what it was refused. */
import { allowanceMs, period } from '#rules/periods.ts';
import { html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import type { Form } from './form.ts';

export type WideningPage = {
  agentName: string;
  /** What it tried to do, such as "Publish a site". */
  attempt: string;
  /** What it tried that on. */
  subject: string | null;
  /** What it lacks, each as the end of "It may also …". */
  powers: string[];
  /** Whether the powers go to a token that the call creates. */
  handsOn: boolean;
  form: Form;
};

/** Names the agent, what it tried, and what each answer gives it. */
export function wideningPage({ agentName, attempt, subject, powers, handsOn, form }: WideningPage): WrittenPage {
  const gives = handsOn ? 'The new access that it creates may' : 'For this, it needs to be allowed to';
  const main = html`<h1>Let “${agentName}” do this?</h1>
<p class="lead">Your agent <strong>${agentName}</strong> tried something that you have not given it access to.</p>
<div class="panel">
<dl class="facts">
<dt>It wants to</dt><dd>${attempt}</dd>
${subject === null ? null : html`<dt>Concerns</dt><dd>${subject}</dd>`}
</dl>
<p>${gives}:</p>
<ul class="powers">${powers.map((power) => html`<li>${power}</li>`)}</ul>
</div>
<div class="panel">
${form({}, html`<p class="hint">It may do exactly this, one time, within the next ${period(allowanceMs)}. Anything that it creates stays until you remove it.</p><button name="answer" value="once">Allow once</button>`)}
</div>
<div class="panel">
${form({}, html`<p class="hint">From now on it may always ${powers.join(', and ')}, until you revoke its access on your account page.</p><button class="quiet" name="answer" value="always">Allow always</button>`)}
</div>
<div class="panel">
${form({}, html`<p class="hint">Not what you asked your agent for? Refuse it; nothing will change.</p><button class="quiet" name="answer" value="refuse">Refuse</button>`)}
</div>`;
  return writePage({ title: 'Allow an agent more? – Frontage', main, layout: 'card', form: true });
}
