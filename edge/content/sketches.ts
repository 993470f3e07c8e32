/** Sketches: each direction on its own host without scripts, and one page that shows them all. */
import { readFileSync } from 'node:fs';
import type { VisitorRequest } from '#edge/http/request.ts';
import type { SketchRow } from '#edge/routing/database.ts';
import type { Target } from '#edge/routing/paths.ts';
import type { SketchHosts } from '#edge/routing/sketch-hosts.ts';
import type { Store } from '#providers/store/store.ts';
import { type Html, html } from '#web/html.ts';
import { writePage } from '#web/page.ts';
import { answerPage, type EdgeResponse, MissingBlob } from './response.ts';

const style = readFileSync(new URL('./sketches.css', import.meta.url), 'utf8');

type Parts = { baseDomain: string; baseUrl: string | undefined; store: Store; sketchHosts: SketchHosts };

export async function answerSketch(
  { baseDomain, baseUrl, store, sketchHosts }: Parts,
  { fields }: VisitorRequest,
  name: string,
  { path }: Target,
  as: 'html' | 'text',
): Promise<EdgeResponse> {
  const sketch = await sketchHosts.find(name);
  if (!sketch) return answerPage('unknown', as);
  if (sketch.blocked) return answerPage('blocked', as);
  if (path !== '') return answerPage('missing', 'text');
  const port = /:\d{1,5}$/.exec(fields.host ?? '')?.[0] ?? '';
  if (sketch.sha256 === null) return overview(sketch, baseUrl, (host) => `//${host}.${baseDomain}${port}`);
  const page = await store.readAll(sketch.sha256);
  if (!page) throw new MissingBlob(`blob ${sketch.sha256} is missing`);
  return answer(page, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': directionPolicy(`${sketch.overview}.${baseDomain}:*`),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'noindex, nofollow',
    'referrer-policy': 'no-referrer',
  });
}

/** Allows styles, pictures and fonts, inline or over https; no scripts, no forms, no navigation. */
function directionPolicy(frameHost: string): string {
  return [
    "default-src 'none'",
    "script-src 'none'",
    "style-src 'unsafe-inline' https:",
    'img-src data: https:',
    'font-src data: https:',
    'media-src data: https:',
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frameHost}`,
    'sandbox',
  ].join('; ');
}

function overview(sketch: SketchRow, baseUrl: string | undefined, hrefOf: (host: string) => string): EdgeResponse {
  const { title, directions } = sketch;
  const count = [
    'One direction',
    'Two directions',
    'Three directions',
    'Four directions',
    'Five directions',
    'Six directions',
  ][directions.length - 1];
  const items = directions.map(
    ({ name, note, label: host, position }) => html`<li class="direction">
<div class="name"><h2>${name}</h2><a href="${hrefOf(host)}/">Open full size</a></div>
<p class="hint">${note}</p>
<div class="choice">${choiceOf(sketch, baseUrl, position)}</div>
<div class="view"><iframe src="${hrefOf(host)}/" title="${name}" loading="lazy" sandbox referrerpolicy="no-referrer"></iframe></div>
</li>
`,
  );
  const { body, headers } = writePage({
    title,
    layout: 'dashboard',
    style,
    ...(baseUrl === undefined ? {} : { form: true, leadsTo: [baseUrl] }),
    frames: directions.map(({ label: host }) => hrefOf(host).slice(2)),
    main: html`<div class="head"><h1>${title}</h1><p class="lead">${count} to choose from. These are sketches; none of them has been published.</p></div>
<ul class="directions">
${items}</ul>`,
  });
  // The address of the page is a secret.
  return answer(Buffer.from(body), { ...headers, 'referrer-policy': 'no-referrer' });
}

/** The button that chooses the direction, or that it is chosen. */
function choiceOf({ chosen, overview: label }: SketchRow, baseUrl: string | undefined, position: number): Html | null {
  if (chosen === position) return html`<p class="chosen">You chose this one</p>`;
  if (baseUrl === undefined) return null;
  return html`<form method="post" action="${baseUrl}/sketches/${label}/choice"><button${chosen === null ? null : html` class="quiet"`} name="direction" value="${position}">Choose this one</button></form>`;
}

function answer(body: Buffer, headers: Record<string, string>): EdgeResponse {
  return {
    head: { status: 200, fields: [...Object.entries(headers).flat(), 'content-length', String(body.length)] },
    body,
  };
}
