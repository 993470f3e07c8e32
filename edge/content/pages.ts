/** The edge's own pages, for what no site answers. One renderer; rendered once, when the process starts. */

import type { Head } from '#edge/http/http1-head.ts';
import { html } from '#web/html.ts';
import { writePage } from '#web/page.ts';
import { shopFront } from '#web/pages/illustration.ts';

export type PageName =
  | 'base'
  | 'unknown'
  | 'unpublished'
  | 'archived'
  | 'blocked'
  | 'missing'
  | 'ended'
  | 'gone'
  | 'unavailable'
  | 'badRequest'
  | 'notAllowed'
  | 'misdirected'
  | 'ready'
  | 'leaving';

type Words = { status: number; title: string; text: string; lit?: true; home?: true; fields?: string[] };

const words: Record<PageName, Words> = {
  base: {
    status: 200,
    title: 'Websites live here',
    text: 'Each site has an address of its own under this domain. Open the one you were given.',
    lit: true,
  },
  unknown: {
    status: 404,
    title: 'No site at this address',
    text: 'There may be a letter wrong in it. Check the address, or ask whoever gave it to you.',
  },
  unpublished: {
    status: 404,
    title: 'Opening soon',
    text: 'This site has its address, and nothing is published on it yet. Come back a little later.',
  },
  archived: {
    status: 410,
    title: 'This site has closed',
    text: 'Its owner has taken it down. There is nothing to see at this address any more.',
  },
  blocked: {
    status: 451,
    title: 'This site is not shown',
    text: 'Those who run this platform have taken it off the web. Its owner has been told why.',
  },
  missing: {
    status: 404,
    title: 'Page not found',
    text: 'The page may have moved or been removed. The rest of the site is where it was.',
    lit: true,
    home: true,
  },
  ended: {
    status: 410,
    title: 'This preview has ended',
    text: 'A draft is shown for two weeks. Whoever sent you this address can build it again and send you a new one.',
  },
  gone: {
    status: 410,
    title: 'This page is gone',
    text: 'It was taken down on purpose and will not come back. The rest of the site is where it was.',
    home: true,
  },
  unavailable: {
    status: 503,
    title: 'Back in a moment',
    text: 'This site can’t be shown right now. The fault is ours, not yours: please try again shortly.',
    fields: ['retry-after', '5'],
  },
  badRequest: {
    status: 400,
    title: 'This address can’t be read',
    text: 'Something in it is not as an address should be. Check it, or start from the site’s front page.',
  },
  notAllowed: {
    status: 405,
    title: 'This can only be read',
    text: 'Sites published here answer requests to read a page, and no others.',
    fields: ['allow', 'GET, HEAD'],
  },
  misdirected: {
    status: 421,
    title: 'Another connection is needed',
    text: 'This connection was opened for another site. Ask again on one of its own.',
  },
  ready: { status: 200, title: 'Ready', text: 'This edge serves.' },
  leaving: { status: 503, title: 'Leaving', text: 'This edge is about to end: another one serves.' },
};

export type RenderedPage = { head: Head; body: Buffer; isOwn: true };

const commonFields = [
  'cache-control',
  'no-store',
  'x-content-type-options',
  'nosniff',
  'x-robots-tag',
  'noindex',
  'referrer-policy',
  'no-referrer',
];

/** A page of the edge's own as HTML, or as one line of text for requests that a page would be the wrong answer to. */
export function ownPage(name: PageName, as: 'html' | 'text'): RenderedPage {
  return pages[as][name];
}

const pages = { html: renderAll(renderHtml), text: renderAll(renderText) };

function renderAll(render: (words: Words) => RenderedPage): Record<PageName, RenderedPage> {
  const entries = Object.entries(words).map(([name, its]) => [name, render(its)]);
  return Object.fromEntries(entries) as Record<PageName, RenderedPage>;
}

function rendered(its: Words, text: string, fields: string[]): RenderedPage {
  const body = Buffer.from(text);
  const all = [...fields, 'content-length', String(body.length), ...(its.fields ?? [])];
  return { head: { status: its.status, fields: all }, body, isOwn: true };
}

function renderText(its: Words): RenderedPage {
  return rendered(its, `${its.title}.\n`, ['content-type', 'text/plain; charset=utf-8', ...commonFields]);
}

function renderHtml(its: Words): RenderedPage {
  const main = html`${shopFront(its.lit ?? false)}
<h1>${its.title}</h1>
<p>${its.text}</p>
${its.home ? html`<a class="button quiet" href="/">Go to the front page</a>` : null}`;
  const { body, headers } = writePage({ title: its.title, main, layout: 'sign' });
  return rendered(its, body, Object.entries(headers).flat());
}
