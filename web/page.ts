/** The shell of every page that Frontage shows by itself: one look, no script needed, nothing fetched from anywhere. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Html, html } from './html.ts';

export type Page = {
  /** Of the window. */
  title: string;
  main: Html;
  /**
   * `sign`: one picture, one heading, one sentence, in the middle. `sheet`: one task, as wide as a phone. `desk`: several panels. `frame`: a
   * small window in somebody's page, without a bar.
   */
  layout: 'sign' | 'sheet' | 'desk' | 'frame';
  /** The right end of the bar, as "Sign out". `sign` has no bar. */
  bar?: Html;
  /** The page's own script. It may speak to its own origin alone; the page has to say what it needs where scripts do not run. */
  script?: string;
  /** Rules of this page alone, after those of all pages. */
  style?: string;
  /** Origins whose pages may hold this one in a frame; none unless said. */
  ancestors?: readonly string[];
  /** What the script is told, as data attributes of `main`. */
  data?: Readonly<Record<string, string>>;
  /** Sources of what it shows in frames, as a policy names them (CSP level 3, host-source). */
  frames?: readonly string[];
  /** Whether the page has a form. It may send it to its own origin alone. */
  form?: boolean;
  /** Sources that an answer to the form may lead to: browsers hold each redirect to the policy too (CSP level 3, form-action). */
  leadsTo?: readonly string[];
  /** Whether scripts, workers and styles may come from its own origin, and from which others a challenge's widget. */
  loads?: readonly string[];
};

export type WrittenPage = { body: string; headers: Record<string, string> };

const style = readFileSync(new URL('./page.css', import.meta.url), 'utf8');
const styleSource = hashSource(style);

/** The page as HTML, with every header that it needs but its status. */
export function writePage(page: Page): WrittenPage {
  return {
    body: shell(page),
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy(page),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-robots-tag': 'noindex',
      // A form's request has to say where it comes from: with no-referrer its `Origin` would be `null`.
      'referrer-policy': page.form ? 'same-origin' : 'no-referrer',
    },
  };
}

function policy({ script, style: own, frames, form, leadsTo = [], loads, ancestors = [] }: Page): string {
  const loaded = loads === undefined ? '' : ` ${["'self'", ...loads].join(' ')}`;
  const framed = frames ?? (loads?.length ? loads : undefined);
  return [
    "default-src 'none'",
    `style-src ${styleSource}${own === undefined ? '' : ` ${hashSource(own)}`}${loaded}`,
    script === undefined ? "img-src 'self' data:" : "img-src 'self' data: blob:",
    ...(script === undefined ? [] : [`script-src ${hashSource(script)}${loaded}`, `connect-src 'self'`]),
    ...(loads === undefined ? [] : ["worker-src 'self'"]),
    ...(framed === undefined ? [] : [`frame-src ${framed.join(' ')}`]),
    "base-uri 'none'",
    `form-action ${form ? ["'self'", ...leadsTo].join(' ') : "'none'"}`,
    `frame-ancestors ${ancestors.length > 0 ? ancestors.join(' ') : "'none'"}`,
  ].join('; ');
}

function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

function shell({ title, main, layout, bar, script, style: own, data = {} }: Page): string {
  const head = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
`;
  const body = html`</head>
<body class="${layout}">
${layout === 'sign' || layout === 'frame' ? null : html`<header><span class="mark">${awning}Frontage</span>${bar}</header>`}
<main${Object.entries(data).map(([name, value]) => html` data-${name}="${value}"`)}>
${main}
</main>
`;
  // Hashed by the policy, so that nothing else can stand in for either.
  const scripted = script === undefined ? '' : `<script>${inElement(script, 'script')}</script>\n`;
  const styled = own === undefined ? '' : `<style>${inElement(own, 'style')}</style>\n`;
  return `${head.markup}<style>${inElement(style, 'style')}</style>\n${styled}${body.markup}${scripted}</body>\n</html>\n`;
}

function inElement(text: string, element: 'script' | 'style'): string {
  if (text.toLowerCase().includes(`</${element}`)) throw new TypeError(`A ${element} must not hold its own end.`);
  return text;
}

const awning = html`<svg viewBox="0 0 28 20" aria-hidden="true"><path class="roof" d="M4 0h20l3 6H1z"/><path class="stripe" d="M1 7h5.2v8a2.6 2.6 0 0 1-5.2 0zM11.4 7h5.2v8a2.6 2.6 0 0 1-5.2 0zM21.8 7H27v8a2.6 2.6 0 0 1-5.2 0z"/><path class="pale" d="M6.2 7h5.2v8a2.6 2.6 0 0 1-5.2 0zM16.6 7h5.2v8a2.6 2.6 0 0 1-5.2 0z"/></svg>`;
