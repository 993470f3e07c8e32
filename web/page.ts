/** The shell of every page of our own: one design, no script required, no external resources. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { awning, iconUrl } from './awning.ts';
import { type Html, html } from './html.ts';

export type Page = {
  /** The document's title. */
  title: string;
  main: Html;
  /**
   * `message`: a centred picture, heading and sentence. `card`: one task, as wide as a phone. `dashboard`: several panels. `frame`: a small
   * window inside a site's page, without a header bar. `console`: a page of the owner's console.
   * `document`: text with its contents.
   */
  layout: 'message' | 'card' | 'dashboard' | 'frame' | 'console' | 'document';
  /** The name in the header bar. The product's name unless set. */
  brand?: string;
  /** Whether search engines may show the page; by default they must not. */
  isFindable?: boolean;
  /** The right end of the header bar, such as "Sign out". `message` has no header bar. */
  bar?: Html;
  /** Where the name in the header bar leads. */
  home?: string;
  /** Between the header bar and the main part, such as a navigation. */
  above?: Html;
  /** Reloads the page after so many seconds where scripts do not run. */
  refreshSeconds?: number;
  /** The page's own script. It may only connect to its own origin. */
  script?: string;
  /** Paths of modules on our own origin that it loads. */
  modules?: readonly string[];
  /** Additional styles of this page. */
  style?: string;
  /** Origins that may frame this page; default none. */
  ancestors?: readonly string[];
  /** Data attributes of `main`, for the script. */
  data?: Readonly<Record<string, string>>;
  /** Sources of its frames (CSP level 3, host-source). */
  frames?: readonly string[];
  /** Whether the page has a form. It may only be submitted to its own origin. */
  form?: boolean;
  /** Sources that a submitted form may be redirected to: browsers check redirects too (CSP level 3, form-action). */
  leadsTo?: readonly string[];
  /** If set, allows scripts, workers and styles from its own origin and from these origins (a challenge's widget). */
  loads?: readonly string[];
};

export type WrittenPage = { body: string; headers: Record<string, string> };

const style = readFileSync(new URL('./page.css', import.meta.url), 'utf8');
const styleSource = hashSource(style);

/** The page as HTML, with all its headers. */
export function writePage(page: Page): WrittenPage {
  return {
    body: shell(page),
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy(page),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...(page.isFindable ? {} : { 'x-robots-tag': 'noindex' }),
      // With no-referrer, a form's request would send `Origin: null`.
      'referrer-policy': page.form ? 'same-origin' : 'no-referrer',
    },
  };
}

function policy({ script, modules = [], style: own, frames, form, leadsTo = [], loads, ancestors = [] }: Page): string {
  const loaded = loads === undefined ? '' : ` ${["'self'", ...loads].join(' ')}`;
  const scripts = [
    ...(script === undefined ? [] : [hashSource(script)]),
    ...(modules.length > 0 || loads ? ["'self'"] : []),
    ...(loads ?? []),
  ];
  const isScripted = script !== undefined || modules.length > 0;
  const framed = frames ?? (loads?.length ? loads : undefined);
  return [
    "default-src 'none'",
    `style-src ${styleSource}${own === undefined ? '' : ` ${hashSource(own)}`}${loaded}`,
    script === undefined ? "img-src 'self' data:" : "img-src 'self' data: blob:",
    ...(isScripted ? [`script-src ${scripts.join(' ')}`, `connect-src 'self'`] : []),
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

function shell({
  title,
  main,
  layout,
  brand = 'Frontage',
  bar,
  home,
  above,
  refreshSeconds,
  script,
  modules = [],
  style: own,
  data = {},
  isFindable = false,
}: Page): string {
  const head = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${isFindable ? null : html`<meta name="robots" content="noindex">\n`}<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${iconUrl}">
${refreshSeconds === undefined ? null : html`<noscript><meta http-equiv="refresh" content="${refreshSeconds}"></noscript>\n`}`;
  const body = html`</head>
<body class="${layout}">
${layout === 'message' || layout === 'frame' ? null : html`<header>${home ? html`<a class="mark" href="${home}">${awning}${brand}</a>` : html`<span class="mark">${awning}${brand}</span>`}${bar}</header>`}
${above}<main${Object.entries(data).map(([name, value]) => html` data-${name}="${value}"`)}>
${main}
</main>
${modules.map((path) => html`<script type="module" src="${path}"></script>\n`)}`;
  // The policy contains the hashes of both.
  const scripted = script === undefined ? '' : `<script>${inElement(script, 'script')}</script>\n`;
  const styled = own === undefined ? '' : `<style>${inElement(own, 'style')}</style>\n`;
  return `${head.markup}<style>${inElement(style, 'style')}</style>\n${styled}${body.markup}${scripted}</body>\n</html>\n`;
}

function inElement(text: string, element: 'script' | 'style'): string {
  if (text.toLowerCase().includes(`</${element}`))
    throw new TypeError(`A ${element} must not contain its own end tag.`);
  return text;
}
