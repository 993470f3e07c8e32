/** Redirect rules at the edge: those set by the API, then those of the version, then files. */
import { LRUCache } from 'lru-cache';
import { answerPage, type EdgeResponse } from '#edge/content/response.ts';
import type { ManifestFile } from '#providers/manifest.ts';
import { publishedRedirects } from '#providers/redirects/file.ts';
import {
  createRedirectTable,
  locationOf,
  type Match,
  type RedirectRule,
  type RedirectTable,
  rewriteStatus,
  terminates,
} from '#providers/redirects.ts';
import type { Store } from '#providers/store/store.ts';
import type { Target } from './paths.ts';

export type SiteRedirects = {
  /** The rules of this blob, if in memory. */
  cached(sha256: string): RedirectTable | undefined;
  /** The rules; concurrent calls share one read of the store. */
  load(sha256: string): Promise<RedirectTable>;
};

/** Caches up to `bytesMax` of rules, least recently used first out. */
export function createSiteRedirects(store: Store, bytesMax: number): SiteRedirects {
  const cache = new LRUCache<string, RedirectTable>({
    maxSize: bytesMax,
    sizeCalculation: (table) => 1024 + table.weight,
    ignoreFetchAbort: true,
    async fetchMethod(sha256) {
      const blob = await store.readAll(sha256);
      if (!blob) throw new Error(`redirect list ${sha256} is not in the store`);
      return createRedirectTable(JSON.parse(blob.toString()) as RedirectRule[]);
    },
  });
  return { cached: (sha256) => cache.get(sha256), load: (sha256) => cache.forceFetch(sha256) };
}

/** The rules of a version; undefined if it has no file of them. */
export async function readVersionRedirects(
  store: Store,
  file: ManifestFile | undefined,
): Promise<RedirectTable | undefined> {
  if (!file) return undefined;
  const content = await store.readAll(file.sha256);
  if (!content) throw new Error(`blob ${file.sha256} is missing`);
  return createRedirectTable(publishedRedirects(content, ''));
}

/** The response of a redirect rule; undefined for a rewrite. Two lists together can form a loop: such a rule is skipped. */
export function answerRule(
  tables: readonly (RedirectTable | undefined)[],
  match: Match,
  { path, query }: Target,
  as: 'html' | 'text',
): EdgeResponse | undefined {
  const { status } = match.rule;
  if (status === rewriteStatus) return undefined;
  const location = locationOf(match, query);
  if (location === undefined) return answerPage('gone', as);
  if (!terminates(tables, path)) return undefined;
  // Not cached, so that changed rules take effect immediately.
  const fields = ['location', location, 'cache-control', 'public, max-age=0, must-revalidate', 'content-length', '0'];
  return { head: { status, fields }, body: undefined };
}
