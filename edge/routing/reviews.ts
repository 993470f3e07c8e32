/**
 * Pages for reviewers, who opened a review link: with the overlay's loader inserted. A cookie on the host marks them. It is not a secret:
 * it selects the frame, and the frame decides who may comment. Only requests that left the fast path get here (http1-head.ts), so visitors
 * pay nothing for it.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { wantsPage } from '#edge/content/files.ts';
import { createSnippet, followedBy, insertIntoPage, type Snippet } from '#edge/content/insertion.ts';
import type { EdgeResponse } from '#edge/content/response.ts';
import { admitOverlay, sitePolicies } from '#edge/content/review-policy.ts';
import type { Edge } from '#edge/edge.ts';
import { acceptedEncodings } from '#edge/http/encodings.ts';
import type { VisitorRequest } from '#edge/http/request.ts';
import type { MaybePromise } from '#edge/maybe-async.ts';
import { matchesWeakly } from '#rules/http-conditions.ts';
import { daySeconds } from '#rules/time.ts';
import { html } from '#web/html.ts';
import { overlayModules } from '#web/overlay/modules.ts';
import { type PageFile, pageFile } from '#web/page-file.ts';
import { reviewCookie, welcomeCookie } from './review-cookie.ts';

export type Reviews = {
  /** The response to a reviewer, or to a browser that becomes or stops being one; undefined for a visitor's request. */
  answer(request: VisitorRequest, cookies: string | undefined): MaybePromise<EdgeResponse> | undefined;
};

const folder = '/.frontage/';
const longestSeconds = 30 * daySeconds;
const welcomeSeconds = 60;
/** A public id, as `newPublicId` makes it. */
const siteKey = /^[0-9a-hjkmnp-tv-z]{16}$/;
const commentCount = /^\d{1,4}$/;
/** A path that no parser reads as another host. */
const ownPath = /^\/(?![/\\])[!-[\]-~]*$/;

export function createReviews({ edge, baseUrl }: { edge: Pick<Edge, 'answer'>; baseUrl: string }): Reviews {
  const files = new Map(
    overlayModules.map(({ name, file }) => [`${folder}overlay/${name}`, pageFile(readFileSync(file), 'script')]),
  );

  function answerOwn(request: VisitorRequest): EdgeResponse {
    const { pathname, searchParams } = new URL(request.target, 'http://host');
    const script = files.get(pathname);
    if (script) return answerScript(request, script);
    const to = searchParams.get('to') ?? '/';
    const site = searchParams.get('site') ?? '';
    if (!ownPath.test(to)) return answerNothing();
    if (pathname === `${folder}leave`) return seeOther(to, [cookieOf(reviewCookie, '', 0)]);
    if (pathname !== `${folder}review` || !siteKey.test(site)) return answerNothing();
    const seconds = Math.min(Number(searchParams.get('for')) || 0, longestSeconds);
    const open = searchParams.get('open') ?? '';
    return seeOther(to, [
      cookieOf(reviewCookie, site, Math.max(0, Math.floor(seconds))),
      ...(commentCount.test(open) ? [cookieOf(welcomeCookie, open, welcomeSeconds)] : []),
    ]);
  }

  async function answerReviewer(request: VisitorRequest, review: Review): Promise<EdgeResponse> {
    // The whole, unencoded page: its entity tag and encodings do not apply to the page with the loader.
    const plain = { ...request, fields: { ...request.fields, ...unconditional } };
    const answer = await edge.answer(plain);
    if (!isSitePage(answer)) return await edge.answer(request);
    return withLoader(answer, baseUrl, review);
  }

  return {
    answer(request, cookies) {
      if (request.method !== 'GET' && request.method !== 'HEAD') return undefined;
      if (request.target.startsWith(folder)) return answerOwn(request);
      const site = cookies && readCookie(cookies, reviewCookie);
      if (!site || !siteKey.test(site) || !wantsPage(request.target.split('?', 1)[0] ?? '')) return undefined;
      const open = readCookie(cookies, welcomeCookie);
      return answerReviewer(request, { site, open: open && commentCount.test(open) ? open : undefined });
    },
  };
}

const unconditional = {
  acceptEncoding: undefined,
  ifMatch: undefined,
  ifNoneMatch: undefined,
  range: undefined,
  ifRange: undefined,
};

function readCookie(cookies: string, wanted: string): string | undefined {
  return cookies
    .split(';')
    .map((pair) => pair.trim().split('='))
    .find(([name]) => name === wanted)?.[1];
}

const cookieOf = (name: string, value: string, seconds: number) =>
  `${name}=${value}; Path=/; Max-Age=${seconds}; Secure; HttpOnly; SameSite=Lax`;

/** The site's public id and, on the first page, the number of its open comments. */
type Review = { site: string; open: string | undefined };

function loaderOf(baseUrl: string, { site, open }: Review, nonce: string | undefined): Snippet {
  const frame = `${baseUrl}/review/frame/${site}`;
  const allowed = nonce === undefined ? null : html` nonce="${nonce}"`;
  const count = open === undefined ? null : html` data-frontage-open="${open}"`;
  const { markup } =
    html`<script type="module" src="${folder}overlay/loader.js" data-frontage-frame="${frame}"${count}${allowed}></script>`;
  return createSnippet(markup);
}

/** Whether it is a page of the site. The edge's own pages forbid scripts by their content security policy. */
function isSitePage({ head, body, isOwn }: EdgeResponse): boolean {
  if (isOwn || body === undefined || (head.status !== 200 && head.status !== 404)) return false;
  return fieldsOf(head).some(([name, value]) => name === 'content-type' && value.startsWith('text/html'));
}

function fieldsOf({ fields }: EdgeResponse['head']): [name: string, value: string][] {
  return fields.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1] as string]] : []));
}

const changed = new Set(['etag', 'content-length', 'cache-control', 'accept-ranges', 'vary']);

function withLoader({ head, body }: EdgeResponse, baseUrl: string, review: Review): EdgeResponse {
  const kept = fieldsOf(head).filter(([name]) => !changed.has(name));
  const nonce = kept.some(([name]) => sitePolicies.has(name)) ? randomBytes(16).toString('base64') : undefined;
  const snippet = loaderOf(baseUrl, review, nonce);
  const frameOrigin = URL.parse(baseUrl)?.origin ?? '';
  const allowed = kept.flatMap(([name, value]) => {
    if (nonce === undefined || !sitePolicies.has(name)) return [name, value];
    return name === 'cross-origin-embedder-policy' ? [] : [name, admitOverlay(value, { nonce, frameOrigin })];
  });
  const seen = review.open === undefined ? [] : ['set-cookie', cookieOf(welcomeCookie, '', 0)];
  const fields = [...allowed, 'cache-control', 'private, no-store', ...seen];
  if (Buffer.isBuffer(body)) {
    const page = insertIntoPage(body, snippet);
    return { head: { status: head.status, fields: [...fields, 'content-length', String(page.length)] }, body: page };
  }
  const { open, bytes } = body as Exclude<EdgeResponse['body'], Buffer | undefined>;
  const whole = {
    bytes: bytes === undefined ? undefined : bytes + snippet.bytes.length,
    open: async () => followedBy(await open(), snippet),
  };
  return { head: { status: head.status, fields }, body: whole };
}

function answerScript({ fields }: VisitorRequest, { bytes, gzip, etag, type: contentType }: PageFile): EdgeResponse {
  const kept = ['etag', etag, 'cache-control', 'public, max-age=0, must-revalidate', 'vary', 'accept-encoding'];
  if (fields.ifNoneMatch !== undefined && matchesWeakly(fields.ifNoneMatch, etag)) {
    return { head: { status: 304, fields: kept }, body: undefined };
  }
  const packed = acceptedEncodings(fields.acceptEncoding).includes('gzip');
  const body = packed ? gzip : bytes;
  const type = ['content-type', contentType, 'x-content-type-options', 'nosniff'];
  const encoding = packed ? ['content-encoding', 'gzip'] : [];
  return {
    head: { status: 200, fields: [...type, ...kept, ...encoding, 'content-length', String(body.length)] },
    body,
  };
}

function seeOther(to: string, cookies: string[]): EdgeResponse {
  const set = cookies.flatMap((cookie) => ['set-cookie', cookie]);
  const fields = ['location', to, ...set, 'cache-control', 'no-store', 'referrer-policy', 'no-referrer'];
  return { head: { status: 303, fields: [...fields, 'content-length', '0'] }, body: undefined };
}

function answerNothing(): EdgeResponse {
  return { head: { status: 404, fields: ['cache-control', 'no-store', 'content-length', '0'] }, body: undefined };
}
