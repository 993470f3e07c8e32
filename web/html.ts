/** HTML as values: what is put into a template is escaped, unless it is HTML already. */

/** A piece of HTML that is safe to put into a page as it is. Only `html` makes one. */
export type Html = { readonly markup: string };

type Value = Html | string | number | null | undefined | false | readonly Value[];

const made = new WeakSet<object>();

/**
 * A template of HTML: html`<p class="${name}">${text}</p>`. Strings are escaped for text and for quoted attributes, the only places
 * where a value may stand. Lists are put in one after the other; null, undefined and false are nothing.
 */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  const markup = parts.reduce((before, part, at) => before + write(values[at - 1]) + part);
  const piece = Object.freeze({ markup });
  made.add(piece);
  return piece;
}

/** The text as it stands in HTML, in a quoted attribute too. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
}

function write(value: Value): string {
  if (value === null || value === undefined || value === false) return '';
  if (typeof value === 'string' || typeof value === 'number') return escapeHtml(String(value));
  if (isList(value)) return value.map(write).join('');
  // An object with `markup` that came out of somebody's JSON is not ours.
  if (made.has(value)) return value.markup;
  throw new TypeError('This value is no text and no HTML.');
}

function isList(value: Html | readonly Value[]): value is readonly Value[] {
  return Array.isArray(value);
}
