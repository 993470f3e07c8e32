/** Decides what a path of a version is: redirect rules first, then files, then rewrites, then the 404 page of its folder. */
import { isHtml, mayBePage, wantsPage } from '#edge/content/files.ts';
import type { ServedFile } from '#edge/content/representations.ts';
import { answerPage, answerRedirect, type EdgeResponse } from '#edge/content/response.ts';
import type { Version } from '#edge/content/versions.ts';
import { findRedirect, isChallenge, type Match, type RedirectTable, rewriteOf } from '#providers/redirects.ts';
import type { PathCache } from './path-cache.ts';
import type { Target } from './paths.ts';
import { answerRule } from './redirects.ts';

/** A whole response, a file to serve, or nothing. */
export type Resolution = { answer: EdgeResponse } | { served: ServedFile } | undefined;

type Tables = readonly (RedirectTable | undefined)[];

/** `own`: the rules that were set by the API. */
export function resolve(
  paths: PathCache,
  version: Version,
  own: RedirectTable | undefined,
  target: Target,
): Resolution {
  const { path, query } = target;
  if (!own && !version.redirects) return found(paths, version, path, query);
  if (isChallenge(path)) return undefined;
  const tables: Tables = [own, version.redirects];
  const match = findRedirect(tables, path);
  const ruled = match && answerRule(tables, match, target, wantsPage(path) ? 'html' : 'text');
  if (ruled) return { answer: ruled };
  return found(paths, version, path, query) ?? (match && rewritten(paths, version, path, match));
}

function found(paths: PathCache, version: Version, path: string, query: string): Resolution {
  const file = paths.find(version, path);
  return file && 'redirectTo' in file ? { answer: answerRedirect(file.redirectTo, query) } : file;
}

/** A rewrite of many paths answers no script or picture with a page. */
function rewritten(paths: PathCache, version: Version, path: string, match: Match): Resolution {
  const target = rewriteOf(match);
  const served = target === undefined ? undefined : paths.findFor(version, path, target);
  if (!served || (match.parts.size > 0 && isHtml(served.file.path) && !mayBePage(path))) return undefined;
  return { served };
}

// A site with deeper folders has its 404 pages further up.
const foldersMax = 16;

/** The 404 page of the nearest folder; undefined if the site has none, or if the path is not one of a page. */
export function notFoundPage(paths: PathCache, version: Version, path: string): ServedFile | undefined {
  if (!wantsPage(path)) return undefined;
  const folders = path.split('/', foldersMax).slice(0, -1);
  const depths = folders.map((_, index) => [...folders.slice(0, index + 1), '404.html'].join('/')).reverse();
  return paths.findFor(version, path, depths.find((page) => version.files.get(page)) ?? '404.html');
}

/** The edge's own response to a path that is nothing. */
export function answerNothing(path: string): EdgeResponse {
  return answerPage('missing', wantsPage(path) ? 'html' : 'text');
}
