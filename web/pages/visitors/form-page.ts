/** A form's pages on our own origin: the form, its errors, and the thank-you page. Each works without a script. */
import { readFileSync } from 'node:fs';
import type { FormField } from '#db/forms/form.ts';
import type { Shown } from '#providers/challenge/challenge.ts';
import type { PageColors } from '#rules/page-colors.ts';
import { bundled, inlineScript } from '#runtime/bundle.ts';
import { type Html, html, linesHtml } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import { colorStyle } from '#web/page-colors.ts';
import { illustration } from '#web/pages/illustration.ts';
import { fieldHtml, fieldId } from '#web/widgets/form-fields.ts';

const script = bundled(new URL('./form-page.js', import.meta.url), inlineScript);
const style = readFileSync(new URL('./form-page.css', import.meta.url), 'utf8');

/** URLs of the challenge's widget. */
export type WidgetFiles = { script: string; worker: string; style: string };

export type ShownForm = {
  name: string;
  siteTitle: string;
  /** The site's canonical host name. */
  hostname: string;
  /** The site's URL. */
  siteUrl: string;
  /** Path that the form sends to. */
  action: string;
  /** `max_length` is the server's limit, if there is one. */
  fields: readonly FormField[];
  /** The owner's text of the button. */
  button?: string | null | undefined;
  /** The owner's text for visitors without JavaScript. */
  fallback?: string | null | undefined;
  colors?: PageColors | null | undefined;
  challenge: Shown;
  files: WidgetFiles;
};

export type Filled = {
  typed?: ReadonlyMap<string, readonly string[]>;
  /** By field name. */
  faults?: ReadonlyMap<string, string>;
  /** An error about the whole form, or the next step. */
  notice?: string;
  /** A challenge solution already given. */
  solution?: string | undefined;
};

/** The form as a page: to fill in, to correct, or to send again with the challenge solved. */
export function formPage(shown: ShownForm, filled: Filled = {}): WrittenPage {
  const { name, siteTitle, hostname, challenge, colors } = shown;
  const others = challenge.kind === 'hosted' ? [new URL(challenge.scriptUrl).origin] : [];
  return writePage({
    title: `${name} – ${hostname}`,
    layout: 'card',
    brand: hostname,
    form: true,
    leadsTo: [new URL(shown.siteUrl).origin],
    loads: others,
    script: script(),
    style: `${style}${colorStyle(colors)}`,
    main: html`<div>
<h1>${name}</h1>
<p class="lead">${siteTitle} · <a href="${shown.siteUrl}/">${hostname}</a></p>
</div>
${noticeHtml(filled)}
${formHtml(shown, filled)}
<link rel="stylesheet" href="${shown.files.style}">`,
  });
}

/** What is wrong, with a link to each field. */
function noticeHtml({ notice, faults }: Filled): Html | null {
  if (notice === undefined) return null;
  if (!faults || faults.size === 0) return html`<p class="fault" role="alert">${notice}</p>`;
  const links = [...faults].map(([name, text]) => html`\n<li><a href="#${fieldId(name)}">${text}</a></li>`);
  return html`<div class="fault" role="alert"><p>${notice}</p>
<ul>${links}\n</ul></div>`;
}

function formHtml(shown: ShownForm, { typed, faults, solution }: Filled): Html {
  const { action, fields } = shown;
  const known = new Set(fields.map(({ name }) => name));
  const carried = [...(typed ?? [])].filter(([name]) => !known.has(name));
  return html`<form class="panel" method="post" action="${action}">
${fields.map((field) => {
  const fault = faults?.get(field.name);
  return html`${fieldHtml(field, { typed: typed?.get(field.name) ?? [], ...(fault === undefined ? {} : { fault }) })}\n`;
})}${carried.map(([name, all]) => all.map((text) => hiddenHtml(name, text)))}${
  solution === undefined ? challengeHtml(shown) : hiddenHtml('altcha', solution)
}
<button>${shown.button ?? 'Send'}</button>
</form>`;
}

function challengeHtml({ action, challenge, files, fallback }: ShownForm): Html {
  const remedy = fallback
    ? html`Nothing has been sent yet. You can also reach us in another way:</p><p>${linesHtml(fallback)}`
    : html`Please allow JavaScript for this page, then reload it.`;
  const needs = html`<noscript><p class="fault">This last step keeps spam out and needs JavaScript. ${remedy}</p></noscript>`;
  if (challenge.kind === 'hosted') {
    return html`<div id="challenge" data-script="${challenge.scriptUrl}" data-element-class="${challenge.elementClass}" data-site-key="${challenge.siteKey}">${needs}</div>`;
  }
  return html`<div id="challenge" data-script="${files.script}" data-worker="${files.worker}" data-challenge="${action}/challenge">${needs}</div>`;
}

const hiddenHtml = (name: string, text: string): Html => html`<input type="hidden" name="${name}" value="${text}">\n`;

/** The form was accepted. */
export function thankYouPage({
  hostname,
  siteUrl,
  thanks,
  colors,
}: Pick<ShownForm, 'hostname' | 'siteUrl' | 'colors'> & { thanks?: string | null | undefined }): WrittenPage {
  return writePage({
    title: `Thank you – ${hostname}`,
    layout: 'message',
    ...(colors ? { style: colorStyle(colors) } : {}),
    main: html`${illustration(true)}
<h1>Thank you</h1>
<p>Your message has been sent to ${hostname}.</p>
${thanks ? html`<p>${linesHtml(thanks)}</p>` : null}
<a class="button quiet" href="${siteUrl}/">Back to ${hostname}</a>`,
  });
}

/** The form was refused for a reason other than its fields. Shows the answers, so that they can be sent again or copied. */
export function refusedPage(
  { title, text }: { title: string; text: string },
  kept: ReadonlyMap<string, readonly string[]>,
  {
    again,
    colors,
  }: { again: { action: string; leadsTo?: readonly string[] } | undefined; colors: ShownForm['colors'] },
): WrittenPage {
  const said = [...kept].filter(([name]) => !name.startsWith('_') && name !== 'altcha');
  return writePage({
    title,
    layout: said.length > 0 ? 'card' : 'message',
    style: `${style}${colorStyle(colors)}`,
    ...(again ? { form: true, leadsTo: again.leadsTo ?? [] } : {}),
    main: html`${said.length > 0 ? null : illustration(false)}
<div><h1>${title}</h1>
<p class="lead">${text}</p></div>
${said.length === 0 ? null : keptHtml(said)}
${again ? html`<form method="post" action="${again.action}">${[...kept].map(([name, all]) => all.map((one) => hiddenHtml(name, one)))}<button>Send again</button></form>` : null}`,
  });
}

function keptHtml(said: [string, readonly string[]][]): Html {
  return html`<section class="panel"><h2>What you wrote</h2>
<dl class="said">${said.map(([name, all]) => html`<div><dt>${name}</dt><dd>${all.join('\n')}</dd></div>`)}</dl></section>`;
}

/** For the site's author: the form and its HTML to paste. */
export function embedPage(shown: ShownForm, snippet: string): WrittenPage {
  return writePage({
    title: `HTML for ${shown.name}`,
    layout: 'dashboard',
    form: true,
    leadsTo: [new URL(shown.siteUrl).origin],
    loads: shown.challenge.kind === 'hosted' ? [new URL(shown.challenge.scriptUrl).origin] : [],
    script: script(),
    style: `${style}${colorStyle(shown.colors)}`,
    main: html`<div>
<h1>${shown.name}</h1>
<p class="lead">A form on ${shown.hostname}, with the HTML to paste into the site’s pages.</p>
</div>
<section><h2>HTML</h2>
<p class="hint">The form works without JavaScript; with the script, the result appears on the same page. Set its colours and corners with the CSS custom properties <code>--frontage-…</code>.</p>
<pre class="copy" tabindex="0"><code>${snippet}</code></pre></section>
<section><h2>The form</h2>
${formHtml(shown, {})}</section>
<link rel="stylesheet" href="${shown.files.style}">`,
  });
}

/** The HTML for a page of the site: a plain form, enhanced by the element around it if scripts run. */
export function formSnippet(
  { action, fields, button, fallback }: Pick<ShownForm, 'action' | 'fields' | 'button' | 'fallback'>,
  widget: string,
): string {
  const formId = action.slice(action.lastIndexOf('/') + 1);
  const parts = [
    ...fields.map((field) => fieldHtml(field)),
    ...(fallback ? [html`<noscript><p>${linesHtml(fallback)}</p></noscript>`] : []),
    html`<button>${button ?? 'Send'}</button>`,
  ];
  const inside = parts.map(({ markup }) => markup.replace(/^(?!<\/textarea>)/gm, '    ')).join('\n');
  return html`<link rel="stylesheet" href="${widget}.css">
<frontage-form form="${formId}">
  <form class="frontage-form" method="post" action="${action}">
`.markup.concat(
    // Some template languages evaluate braces.
    inside.replace(/[{}]/g, (brace) => (brace === '{' ? '&#123;' : '&#125;')),
    html`
  </form>
</frontage-form>
<script type="module" src="${widget}.js"></script>
`.markup,
  );
}
