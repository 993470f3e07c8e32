/** Live sites: the version that the pointer names, and hashed assets of earlier ones. */
import { isHashedAsset, wantsPage } from '#edge/content/files.ts';
import type { PreviousAssets } from '#edge/content/previous-assets.ts';
import { servedFile } from '#edge/content/representations.ts';
import { answerFile, answerMissing, answerPage, type EdgeResponse, type Source } from '#edge/content/response.ts';
import type { Version, Versions } from '#edge/content/versions.ts';
import type { VisitorRequest } from '#edge/http/request.ts';
import { andThen, type MaybePromise } from '#edge/maybe-async.ts';
import type { SiteRow } from './database.ts';
import type { PathCache } from './path-cache.ts';
import type { Target } from './paths.ts';
import type { SiteRedirects } from './redirects.ts';
import { answerNothing, notFoundPage, resolve } from './resolution.ts';

type Parts = {
  source: Source;
  versions: Versions;
  pathCache: PathCache;
  siteRedirects: SiteRedirects;
  previousAssets: PreviousAssets;
};

export type LiveSites = {
  answer(request: VisitorRequest, site: SiteRow, target: Target): MaybePromise<EdgeResponse>;
  /** The response to an OPTIONS request, by the headers that the site sets for the path. */
  answerPreflight(site: SiteRow, target: Target): MaybePromise<EdgeResponse>;
};

export function createLiveSites({ source, versions, pathCache, siteRedirects, previousAssets }: Parts): LiveSites {
  function versionOf(manifestSha256: string): MaybePromise<Version> {
    return versions.cached(manifestSha256) ?? versions.load(manifestSha256);
  }

  function answerPath(
    request: VisitorRequest,
    site: SiteRow,
    version: Version,
    target: Target,
  ): MaybePromise<EdgeResponse> {
    const own = site.redirectsSha256;
    if (own === null) return answerResolved(request, site, version, target, undefined);
    const set = siteRedirects.cached(own) ?? siteRedirects.load(own);
    return andThen(set, (known) => answerResolved(request, site, version, target, known));
  }

  function answerResolved(
    request: VisitorRequest,
    site: SiteRow,
    version: Version,
    target: Target,
    own: Parameters<typeof resolve>[2],
  ): MaybePromise<EdgeResponse> {
    const resolved = resolve(pathCache, version, own, target);
    if (resolved && 'answer' in resolved) return resolved.answer;
    if (resolved) return withPage(answerFile(source, request, resolved.served), site.id, resolved.served.page);
    if (!isHashedAsset(target.path)) return answerUnknown(request, version, target.path);
    return previousAssets.find(site.id, target.path).then((asset) => {
      if (!asset) return answerUnknown(request, version, target.path);
      return answerFile(source, request, servedFile(asset, { headers: version.headers?.find(target.path) }));
    });
  }

  function answerUnknown(request: VisitorRequest, version: Version, path: string): MaybePromise<EdgeResponse> {
    const page = notFoundPage(pathCache, version, path);
    return page ? answerMissing(source, request, page) : answerNothing(path);
  }

  return {
    answer(request, site, target) {
      if (site.status !== 'active') return answerPage(site.status, wantsPage(target.path) ? 'html' : 'text');
      if (site.manifestSha256 === null) return answerPage('unpublished', wantsPage(target.path) ? 'html' : 'text');
      return andThen(versionOf(site.manifestSha256), (known) => answerPath(request, site, known, target));
    },
    answerPreflight(site, { path }) {
      if (site.status !== 'active' || site.manifestSha256 === null) return answerPage('notAllowed', 'text');
      return andThen(versionOf(site.manifestSha256), ({ headers }) => {
        const fields = [...(headers?.find(path)?.fields ?? [])].filter(([name]) => name.startsWith('access-control-'));
        if (!fields.some(([name]) => name === 'access-control-allow-origin')) return answerPage('notAllowed', 'text');
        return { head: { status: 204, fields: ['allow', 'GET, HEAD, OPTIONS', ...fields.flat()] }, body: undefined };
      });
    },
  };
}

/** Adds site and page, for the page view counter. */
function withPage(
  answer: MaybePromise<EdgeResponse>,
  siteId: string,
  page: string | undefined,
): MaybePromise<EdgeResponse> {
  if (page === undefined) return answer;
  return andThen(answer, ({ head, body }) => ({ head, body, siteId, page }));
}
