/** Every error code: when the API returns it, and what to do. */
import { type Html, html } from '#web/html.ts';
import { markdownHtml } from '#web/markdown.ts';

export type ErrorShown = { code: string; status: number; retryable: boolean | 'depends'; when: string; remedy: string };

export function errorCatalog(errors: readonly ErrorShown[]): Html {
  return html`<h1>Errors</h1>
<p>Every error is <code>{ "error": { code, message, retryable, next_action?, request_id?, detail? } }</code>. The message is for the owner. <code>next_action</code> is more specific than this page. Repeat a call only if <code>retryable</code> is true, after the seconds in <code>retry-after</code> if that header is present.</p>
<p>Programs read the codes at <code>/errors</code>.</p>
${errors.map(errorEntry)}`;
}

function errorEntry({ code, status, retryable, when, remedy }: ErrorShown): Html {
  const again = retryable === true ? ' · retry' : retryable === 'depends' ? ' · retry if the response says so' : '';
  return html`<section id="${code}" class="operation">
<h2><code>${code}</code></h2>
<p class="quiet-text">Status ${status}${again}</p>
<p>${when}.</p>
${markdownHtml(remedy).body}
</section>
`;
}
