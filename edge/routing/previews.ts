/** Drafts of sites, each on its own host: served like the site, with a bar on each page, and hidden from search engines. */
import { LRUCache } from 'lru-cache';
import { draftBar } from '#edge/content/draft-bar.ts';
import { wantsPage } from '#edge/content/files.ts';
import { answerInserted, createSnippet, type Snippet } from '#edge/content/insertion.ts';
import { answerPage, answerRedirect, type EdgeResponse, type Source } from '#edge/content/response.ts';
import type { Version, Versions } from '#edge/content/versions.ts';
import type { VisitorRequest } from '#edge/http/request.ts';
import { andThen, type MaybePromise } from '#edge/maybe-async.ts';
import type { Clock } from '#runtime/clock.ts';
import type { PathCache } from './path-cache.ts';
import type { Target } from './paths.ts';
import { applyRedirectRules, type SiteRedirects } from './redirects.ts';
import type { SitePreview } from './site-table.ts';

type Parts = {
  baseDomain: string;
  clock: Clock;
  source: Source;
  versions: Versions;
  pathCache: PathCache;
  siteRedirects: SiteRedirects;
};

type Draft = { request: VisitorRequest; found: SitePreview; target: Target; as: 'html' | 'text'; bar: Snippet };

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
    const draft = { request, found, target, as, bar: barOf(request, found) };
    return andThen(version, (known) =>
      andThen(set, (rules) => {
        const ruled = applyRedirectRules([rules, known.redirects], target, as);
        return andThen(ruled ?? answerPath(draft, known), withPrivacyFields);
      }),
    );
  }

  function rulesOf(sha256: string) {
    return siteRedirects.cached(sha256) ?? siteRedirects.load(sha256);
  }

  function answerPath({ request, target, bar }: Draft, version: Version): MaybePromise<EdgeResponse> {
    const file = pathCache.find(version, target.path);
    if (file && 'redirectTo' in file) return answerRedirect(file.redirectTo, target.query);
    if (file) return answerInserted(source, request, file.served, bar);
    if (!wantsPage(target.path)) return answerPage('missing', 'text');
    const page = pathCache.find(version, '404.html');
    if (!page || !('served' in page)) return answerPage('missing', 'html');
    return answerInserted(source, request, page.served, bar, 404);
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

/** Hides any response of a draft from search engines, and its address from other sites: only invited people know it. */
function withPrivacyFields({ head, body }: EdgeResponse): EdgeResponse {
  const fields = head.fields.filter((_, at) => !privacyFields.has(head.fields[at - (at % 2)] as string));
  return { head: { status: head.status, fields: [...fields, ...[...privacyFields].flat()] }, body };
}
const privacyFields = new Map([
  ['x-robots-tag', 'noindex, nofollow'],
  ['referrer-policy', 'same-origin'],
]);
