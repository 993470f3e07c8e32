/** The edge's own pages, for what no site answers. One renderer; rendered once, when the process starts. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export type PageName =
  | 'base'
  | 'unknown'
  | 'unpublished'
  | 'archived'
  | 'missing'
  | 'unavailable'
  | 'badRequest'
  | 'notAllowed';

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
  missing: {
    status: 404,
    title: 'Page not found',
    text: 'The page may have moved or been removed. The rest of the site is where it was.',
    lit: true,
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
};

export type RenderedPage = { status: number; body: Buffer; fields: string[] };

const style = readFileSync(new URL('./pages.css', import.meta.url), 'utf8');
const styleHash = createHash('sha256').update(style).digest('base64');

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

const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

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
  const all = [...fields, 'content-length', String(body.length), ...commonFields, ...(its.fields ?? [])];
  return { status: its.status, body, fields: all };
}

function renderText(its: Words): RenderedPage {
  return rendered(its, `${its.title}.\n`, ['content-type', 'text/plain; charset=utf-8']);
}

function renderHtml(its: Words): RenderedPage {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${its.title}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<main>
${shopFront(its.lit ?? false)}
<h1>${its.title}</h1>
<p>${its.text}</p>
${its.home ? '<a href="/">Go to the front page</a>\n' : ''}</main>
</body>
</html>
`;
  return rendered(its, html, [
    'content-type',
    'text/html; charset=utf-8',
    'content-security-policy',
    contentSecurityPolicy,
  ]);
}

/** A shop's front: lit for what is open, its shutter down for what is not. */
function shopFront(lit: boolean): string {
  const stripes = [0, 1, 2, 3, 4, 5, 6]
    .map((n) => `<path class="${n % 2 ? 'pale' : 'stripe'}" d="M${18 + n * 12} 26h12v16a6 6 0 0 1-12 0z"/>`)
    .join('');
  const shutter = [58, 64, 70, 76].map((y) => `<path class="line" d="M30 ${y}h34"/>`).join('');
  const inside = lit ? '<path class="lamp" d="M47 52v7m-7 9a7 7 0 0 1 14 0z"/>' : shutter;
  return `<svg viewBox="0 0 120 104" aria-hidden="true">
<path class="wall" d="M22 40h76v52H22z"/>
<path class="${lit ? 'lit' : 'dark'}" d="M30 52h34v30H30z"/>${inside}
<path class="door" d="M72 54h18v38H72z"/><circle class="knob" cx="76" cy="74" r="1.4"/>
<path class="roof" d="M22 18h76l4 8H18z"/>${stripes}
<path class="ground" d="M10 92h100"/>
</svg>`;
}
