/** HTML as values: strings in a template are escaped, HTML is not. */

/** Escaped HTML. Only `html` creates it. */
export type Html = { readonly markup: string };

type Value = Html | string | number | null | undefined | false | readonly Value[];

const made = new WeakSet<object>();

/**
 * A template of HTML: html`<p class="${name}">${text}</p>`. Strings are escaped for text and for quoted attributes; do not put
 * values anywhere else. Lists are concatenated; null, undefined and false render nothing.
 */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  const markup = parts.reduce((before, part, at) => before + write(values[at - 1]) + part);
  const piece = Object.freeze({ markup });
  made.add(piece);
  return piece;
}

/** A text with its line breaks. */
export const linesHtml = (text: string): Html[] =>
  text.split('\n').map((line, index) => html`${index === 0 ? null : html`<br>`}${line}`);

/** Escapes for text and for quoted attributes. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
}

function write(value: Value): string {
  if (value === null || value === undefined || value === false) return '';
  if (typeof value === 'string' || typeof value === 'number') return escapeHtml(String(value));
  if (isList(value)) return value.map(write).join('');
  // Parsed JSON may contain an object with `markup`; only our own values are trusted.
  if (made.has(value)) return value.markup;
  throw new TypeError('The value is neither text nor HTML.');
}

function isList(value: Html | readonly Value[]): value is readonly Value[] {
  return Array.isArray(value);
}
