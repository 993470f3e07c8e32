/** What several pages of the console have. */
import { copyable } from '#web/copyable.ts';
import { type Html, html } from '#web/html.ts';
import type { Form } from '#web/pages/form.ts';
import { exact, relative } from '#web/times.ts';

/** The question before an action that cannot be undone; it needs no script. */
export type Question = {
  title: string;
  /** What it is about, above the text. */
  facts?: Html;
  text: Html | string;
  /** Where the answer goes, and hidden fields of it. */
  action: string;
  hidden?: Readonly<Record<string, string>>;
  /** Fields of the answer. */
  fields?: Html;
  /** The words of the button: what it does. */
  button: string;
  /** The page that asked. */
  back: string;
};

/** A site's address without its scheme. A narrow line breaks it between its parts. */
export const hostOf = (address: string): Html =>
  html`${address
    .replace(/^https?:\/\//, '')
    .split(/(?=[.:])/)
    .map((part, at) => (at > 0 ? html`<wbr>${part}` : part))}`;

export function question(
  { title, facts, text, action, hidden = {}, fields, button, back }: Question,
  form: Form,
): Html {
  return html`<h1>${title}</h1>
<div class="panel question">${facts}<p>${text}</p>
${form({ action }, html`${hiddenFields(hidden)}${fields}<div class="actions"><button>${button}</button><a class="button quiet" href="${back}">Go back</a></div>`)}
</div>`;
}

export const hiddenFields = (values: Readonly<Record<string, string>>): Html[] =>
  Object.entries(values).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);

/** A form of one button. `hidden`: what it sends. */
export function button(
  form: Form,
  action: string,
  words: string | Html,
  { hidden = {}, quiet = true }: { hidden?: Readonly<Record<string, string>>; quiet?: boolean } = {},
): Html {
  return form(
    { action, inline: true },
    html`${hiddenFields(hidden)}<button class="${quiet ? 'quiet small' : 'small'}">${words}</button>`,
  );
}

/** "5 minutes ago", with the exact time as its title. */
export const ago = (at: string, now: Date): Html =>
  html`<time datetime="${at}" title="${exact(new Date(at))}">${relative(new Date(at), now)}</time>`;

/** "3 March 2027 at 14:05 UTC (5 minutes ago)". */
export const since = (at: Date, now: Date): Html =>
  html`<time datetime="${at.toISOString()}">${exact(at)}</time> (${relative(at, now)})`;

/** The link to the rest of a list; nothing at its end. `path` has a query or none. */
export function olderLink(path: string, cursor: string | null): Html | null {
  if (cursor === null) return null;
  return html`<p><a href="${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}">Older</a></p>`;
}

/** Links to the other views of a page. */
export function choices(
  label: string,
  rows: readonly { href: string; words: string | Html; current: boolean }[],
): Html {
  return html`<nav class="choices" aria-label="${label}">${rows.map(
    ({ href, words, current }) => html`<a href="${href}"${current ? html` aria-current="page"` : null}>${words}</a>`,
  )}</nav>`;
}

/** An address that is shown once. */
export function shownOnce(title: string, url: string, hint: string): Html {
  return html`<section class="panel once"><h2>${title}</h2>${copyable(url, 'the address')}<p class="hint">${hint}</p></section>`;
}

/** At most so many letters of a text, in one line. */
export function short(text: string, most: number): string {
  const letters = [...text.replace(/\s+/g, ' ').trim()];
  return letters.length > most ? `${letters.slice(0, most).join('')}…` : letters.join('');
}
