/** The booking widget as it is sent: one module, its words and its style in it, so that a page waits for one file. */
import { readFileSync } from 'node:fs';
import { html } from '#web/html.ts';
import { pageFile } from '#web/page-file.ts';

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

function bundle(): string {
  const words = read('./booking-widget-words.js').replace('export const words', 'const words');
  const style = `const style = ${JSON.stringify(read('./booking-widget.css'))};`;
  const widget = read('./booking-widget.js').replaceAll(/^import .*\n/gm, '');
  const whole = `${style}\n${words}\n${widget}`;
  if (/^(import|export) /m.test(whole)) throw new Error('The booking widget is more than one module.');
  return whole;
}

export const bookingWidget = pageFile(bundle(), 'script');

/** What goes into a page of the site. Inside the element stands what shows until it is ready. */
export function bookingEmbed(baseUrl: string, publicId: string): string {
  return html`<script type="module" src="${baseUrl}/b/widget.js"></script>
<frontage-booking site="${publicId}"></frontage-booking>`.markup;
}
