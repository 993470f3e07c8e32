/** The part of the owner's page that says which plan they have, and the way to another. */

import { type Html, html } from '#web/html.ts';
import { day } from '#web/times.ts';
import type { Form } from './form.ts';

export type PlanShown = {
  name: string;
  status: 'free' | 'granted' | 'active' | 'past_due';
  endsAt: Date | null;
  includes: readonly string[];
  /** What can be bought instead, with its price as people read it. */
  choices: PlanChoice[];
  /** Whether there is a subscription, or was one, to be managed. */
  managed: boolean;
};

/** `isBegun`: a page to pay on is open, on which somebody may have paid a moment ago. */
type PlanChoice = { name: string; price: string; includes: readonly string[]; isBegun: boolean };

export function planSection(plan: PlanShown, form: Form): Html {
  return html`<section>
<h2>Plan</h2>
<ul class="rows">
<li><div><strong>${plan.name}</strong><small>${stateLine(plan)}${plan.includes.map((one) => html` · ${one}`)}</small></div>
${plan.managed ? form({ action: '/account/billing', inline: true }, html`<button class="quiet small">Manage</button>`) : null}</li>
${plan.choices.map((choice) => choiceRow(choice, form))}
</ul>
</section>`;
}

function choiceRow({ name, price, includes, isBegun }: PlanChoice, form: Form): Html {
  const button = isBegun
    ? html`<button class="quiet small">Go on with ${name}</button>`
    : html`<button class="small">Change to ${name}</button>`;
  return html`<li><div><strong>${name}</strong><small>${price}${includes.map((one) => html` · ${one}`)}</small>
${isBegun ? html`<small>You have begun to buy it. Once paid, it is yours in a few seconds.</small>` : null}</div>
${form({ action: `/account/plan/${name}`, inline: true }, button)}</li>`;
}

function stateLine({ status, endsAt }: PlanShown): string {
  const until = endsAt ? day(endsAt) : '';
  if (status === 'past_due') return `A payment is overdue: pay it before ${until}, or the plan ends`;
  if (status === 'granted') return `Given to you until ${until}`;
  if (status === 'active') return endsAt ? `Cancelled, in force until ${until}` : 'Yours now, and paid';
  return 'Yours now';
}
