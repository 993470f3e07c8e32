/** A page with one message. */
import { heading } from '#web/heading.ts';
import { html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import { illustration } from './illustration.ts';

export type Notice = {
  title: string;
  text: string;
  /** Whether the illustration is the open shop. */
  lit?: boolean;
  link?: { href: string; text: string };
};

export function noticePage({ title, text, lit = false, link }: Notice): WrittenPage {
  const main = html`${illustration(lit)}
${heading(title)}
<p>${text}</p>
${link ? html`<a class="button quiet" href="${link.href}">${link.text}</a>` : null}`;
  return writePage({ title: `${title} – Frontage`, main, layout: 'message' });
}
