/** The plan on the account page, with the plans that can be bought. */
import { type Html, html } from '#web/html.ts';
import { day } from '#web/times.ts';
import type { Form } from './form.ts';

export type PlanShown = {
  name: string;
  status: 'free' | 'granted' | 'active' | 'past_due';
  endsAt: Date | null;
  includes: readonly string[];
  /** Plans that can be bought, with formatted prices. */
  choices: PlanChoice[];
  /** Whether there is or was a subscription to manage. */
  managed: boolean;
};

/** `isBegun`: a checkout is open and may just have been paid. */
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
    ? html`<button class="quiet small">Continue with ${name}</button>`
    : html`<button class="small">Change to ${name}</button>`;
  return html`<li><div><strong>${name}</strong><small>${price}${includes.map((one) => html` · ${one}`)}</small>
${isBegun ? html`<small>You have started to buy this plan. It becomes active a few seconds after you pay.</small>` : null}</div>
${form({ action: `/account/plan/${name}`, inline: true }, button)}</li>`;
}

function stateLine({ status, endsAt }: PlanShown): string {
  const until = endsAt ? day(endsAt) : '';
  if (status === 'past_due') return `A payment is overdue. Please pay before ${until} to keep the plan`;
  if (status === 'granted') return `Granted by the operator until ${until}`;
  if (status === 'active') return endsAt ? `Cancelled, active until ${until}` : 'Active, paid';
  return 'Active';
}
