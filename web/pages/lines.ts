/** Texts of owners, which have line breaks and no markup. */
import { type Html, html } from '#web/html.ts';

/** A text with its line breaks. */
export const linesHtml = (text: string): Html[] =>
  text.split('\n').map((line, index) => html`${index === 0 ? null : html`<br>`}${line}`);
