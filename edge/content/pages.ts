/** The edge's own pages, for requests that no site answers. Rendered once, at process start. */

import type { Head } from '#edge/http/http1-head.ts';
import { html } from '#web/html.ts';
import { writePage } from '#web/page.ts';
import { illustration } from '#web/pages/illustration.ts';

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
  | 'shuttingDown';

type Words = { status: number; title: string; text: string; lit?: true; home?: true; fields?: string[] };

const words: Record<PageName, Words> = {
  base: {
    status: 200,
    title: 'Websites live here',
    text: 'Each site has its own address under this domain. Please open the address that you were given.',
    lit: true,
  },
  unknown: {
    status: 404,
    title: 'We can’t find this site',
    text: 'There may be a typo in the address. Check it, or ask the person who gave it to you.',
  },
  unpublished: {
    status: 404,
    title: 'Opening soon',
    text: 'Nothing has been published on this site yet. Please come back a little later.',
  },
  archived: {
    status: 410,
    title: 'This site is closed',
    text: 'It is closed at the moment and may open again later.',
  },
  blocked: {
    status: 451,
    title: 'This site is blocked',
    text: 'The operator of this service has blocked this site and told the owner why.',
  },
  missing: {
    status: 404,
    title: 'Page not found',
    text: 'The page may have moved or been removed. The rest of the site is still here.',
    lit: true,
    home: true,
  },
  ended: {
    status: 410,
    title: 'This preview has expired',
    text: 'A preview expires after two weeks. Ask the person who sent you this one for a new link.',
  },
  gone: {
    status: 410,
    title: 'This page is gone',
    text: 'The page was removed permanently. The rest of the site is still here.',
    home: true,
  },
  unavailable: {
    status: 503,
    title: 'Back in a moment',
    text: 'This site can’t be shown right now. The problem is on our side. Please try again shortly.',
    fields: ['retry-after', '5'],
  },
  badRequest: {
    status: 400,
    title: 'This address is not valid',
    text: 'There is a mistake in the address. Check it, or start from the site’s home page.',
  },
  notAllowed: {
    status: 405,
    title: 'This page is read-only',
    text: 'Sites here accept only GET and HEAD requests.',
    fields: ['allow', 'GET, HEAD'],
  },
  misdirected: {
    status: 421,
    title: 'A new connection is needed',
    text: 'This connection was opened for another site. Try again on a new connection.',
  },
  ready: { status: 200, title: 'Ready', text: 'This edge process is accepting requests.' },
  shuttingDown: {
    status: 503,
    title: 'Shutting down',
    text: 'This edge process is shutting down. Send requests to another one.',
  },
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

/** One of the edge's own pages as HTML, or as one line of text for requests that do not accept HTML. */
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
  const main = html`${illustration(its.lit ?? false)}
<h1>${its.title}</h1>
<p>${its.text}</p>
${its.home ? html`<a class="button quiet" href="/">Go to the home page</a>` : null}`;
  const { body, headers } = writePage({ title: its.title, main, layout: 'message' });
  return rendered(its, body, Object.entries(headers).flat());
}
