/** The page behind the mailed link to a site under deletion, for its signed-in owner. */
import { html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import { day } from '#web/times.ts';
import type { Form } from './form.ts';

export type SiteRestorePage = { form: Form; action: string; hostname: string; deleteAt: Date };

export function siteRestorePage({ form, action, hostname, deleteAt }: SiteRestorePage): WrittenPage {
  const main = html`<h1>Keep ${hostname}?</h1>
<p class="lead">This website is offline, and will be deleted on <strong>${day(deleteAt)}</strong>. If you restore it, it is archived again, with
everything that it had. You or your agent can then put it online.</p>
<div class="panel">
${form({ action }, html`<button>Restore</button>`)}
<p class="hint">To let it be deleted, close this page; nothing will change.</p>
</div>`;
  return writePage({
    title: `Keep ${hostname}? – Frontage`,
    main,
    layout: 'card',
    bar: html`<a href="/account">Your account</a>`,
    form: true,
  });
}
