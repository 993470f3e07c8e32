/** A page that asks before something is done. Opening it does nothing. */
import { type Html, html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import type { Form } from './form.ts';

export type Confirmation = {
  form: Form;
  /** Where the button posts to. */
  action: string;
  /** A question. */
  title: string;
  /** What it means. */
  lead: Html;
  /** The verb of the question. */
  button: string;
  /** What happens to the rest, and if nothing is pressed. */
  hint: string;
};

export function confirmationPage({ form, action, title, lead, button, hint }: Confirmation): WrittenPage {
  const main = html`<h1>${title}</h1>
<p class="lead">${lead}</p>
<div class="panel">
${form({ action }, html`<button>${button}</button>`)}
<p class="hint">${hint}</p>
<p><a href="/account">Go back</a></p>
</div>`;
  return writePage({
    title: `${title} – Frontage`,
    main,
    layout: 'card',
    bar: html`<a href="/account">Your account</a>`,
    form: true,
  });
}
