/** The heading of a page. */
import { type Html, html } from './html.ts';

/** Browsers break lines after a hyphen, also where it leaves a single letter: "e-mail" stays on one line. */
export function heading(text: string): Html {
  const parts = text.split(/(e-mail)/i);
  return html`<h1>${parts.map((part, at) => (at % 2 === 1 ? html`<span class="whole">${part}</span>` : part))}</h1>`;
}
