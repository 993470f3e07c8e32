/** Drafts of sites, each on its own host: served like the site, with a bar on each page, and hidden from search engines. */
import { LRUCache } from 'lru-cache';
import { draftBar } from '#edge/content/draft-bar.ts';
import { answerInserted, createSnippet, type Snippet } from '#edge/content/insertion.ts';
import { answerPage, type EdgeResponse, type Source } from '#edge/content/response.ts';
import { sitePolicies } from '#edge/content/review-policy.ts';
import type { Version, Versions } from '#edge/content/versions.ts';
import type { VisitorRequest } from '#edge/http/request.ts';
import { andThen, type MaybePromise } from '#edge/maybe-async.ts';
import type { Clock } from '#runtime/clock.ts';
import type { PathCache } from './path-cache.ts';
import type { Target } from './paths.ts';
import type { SiteRedirects } from './redirects.ts';
import { answerNothing, notFoundPage, resolve } from './resolution.ts';
import type { SitePreview } from './site-table.ts';

type Parts = {
  baseDomain: string;
  clock: Clock;
  source: Source;
  versions: Versions;
  pathCache: PathCache;
  siteRedirects: SiteRedirects;
};

type Draft = { request: VisitorRequest; target: Target; bar: Snippet };

/** Returns the function that responds to requests for a draft. */
export function createDraftResponder({ baseDomain, clock, source, versions, pathCache, siteRedirects }: Parts) {
  const bars = new LRUCache<string, Snippet>({ max: 1_000 });

  function answerDraft(
    request: VisitorRequest,
    found: SitePreview,
    target: Target,
    as: 'html' | 'text',
  ): MaybePromise<EdgeResponse> {
    const { site, preview } = found;
    if (site.status !== 'active') return answerPage(site.status, as);
    if (clock.now() >= new Date(preview.expiresAt)) return answerPage('ended', as);
    const version = versions.cached(preview.manifestSha256) ?? versions.load(preview.manifestSha256);
    const set = site.redirectsSha256 === null ? undefined : rulesOf(site.redirectsSha256);
    const draft = { request, target, bar: barOf(request, found) };
    return andThen(version, (known) =>
      andThen(set, (rules) => andThen(answerPath(draft, known, rules), withPrivacyFields)),
    );
  }

  function rulesOf(sha256: string) {
    return siteRedirects.cached(sha256) ?? siteRedirects.load(sha256);
  }

  function answerPath(
    { request, target, bar }: Draft,
    version: Version,
    rules: Parameters<typeof resolve>[2],
  ): MaybePromise<EdgeResponse> {
    const resolved = resolve(pathCache, version, rules, target);
    if (resolved && 'answer' in resolved) return resolved.answer;
    if (resolved) return answerInserted(source, request, resolved.served, bar);
    const page = notFoundPage(pathCache, version, target.path);
    return page ? answerInserted(source, request, page, bar, 404) : answerNothing(target.path);
  }

  function barOf({ fields }: VisitorRequest, { site, preview }: SitePreview): Snippet {
    const port = /:\d{1,5}$/.exec(fields.host ?? '')?.[0] ?? '';
    const address = `//${site.name}.${baseDomain}${port}/`;
    const key = `${preview.slot} ${address}`;
    const bar = bars.get(key) ?? createSnippet(draftBar(preview.slot, address));
    bars.set(key, bar);
    return bar;
  }

  return answerDraft;
}

/**
 * Hides any response of a draft from search engines, and its address from other sites: only invited people know it. The
 * site's own policies do not apply, so that the bar and the review overlay always work.
 */
function withPrivacyFields({ head, body, isOwn }: EdgeResponse): EdgeResponse {
  const isHidden = (name: string) => privacyFields.has(name) || (!isOwn && sitePolicies.has(name));
  const fields = head.fields.filter((_, at) => !isHidden(head.fields[at - (at % 2)] as string));
  const answer = { head: { status: head.status, fields: [...fields, ...[...privacyFields].flat()] }, body };
  return isOwn ? { ...answer, isOwn } : answer;
}
const privacyFields = new Map([
  ['x-robots-tag', 'noindex, nofollow'],
  ['referrer-policy', 'same-origin'],
]);
