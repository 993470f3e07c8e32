/** Redirect rules at the edge: those a call set, then those of the version, and then the files. */
import { LRUCache } from 'lru-cache';
import { type Answer, answerPage } from '#edge/content/response.ts';
import type { ManifestFile } from '#providers/manifest.ts';
import { parseRedirectsFile } from '#providers/redirects/file.ts';
import {
  createRedirectTable,
  findRedirect,
  locationOf,
  type RedirectRule,
  type RedirectTable,
  terminates,
} from '#providers/redirects.ts';
import type { Store } from '#providers/store/store.ts';
import type { Target } from './paths.ts';

export type SiteRedirects = {
  /** The rules of this blob, when they are in memory. */
  held(sha256: string): RedirectTable | undefined;
  /** The rules, read from the store once however many ask. */
  load(sha256: string): Promise<RedirectTable>;
};

// About what a rule takes, parsed.
const weightPerRule = 600;

export function weightOf(table: RedirectTable | undefined): number {
  return (table?.size ?? 0) * weightPerRule;
}

/** Keeps rules up to `bytesMax` of memory, those asked for last. */
export function openSiteRedirects(store: Store, bytesMax: number): SiteRedirects {
  const cache = new LRUCache<string, RedirectTable>({
    maxSize: bytesMax,
    sizeCalculation: (table) => 1024 + weightOf(table),
    ignoreFetchAbort: true,
    async fetchMethod(sha256) {
      const blob = await store.readAll(sha256);
      if (!blob) throw new Error(`redirects ${sha256} are not in the store`);
      return createRedirectTable(JSON.parse(blob.toString()) as RedirectRule[]);
    },
  });
  return { held: (sha256) => cache.get(sha256), load: (sha256) => cache.forceFetch(sha256) };
}

/**
 * The rules that a version brings itself; undefined where it has none. They were checked when it was published: one that cannot
 * be read was published before there were rules, and its file is no more than a file that is not served.
 */
export async function readVersionRedirects(
  store: Store,
  file: ManifestFile | undefined,
): Promise<RedirectTable | undefined> {
  if (!file) return undefined;
  const content = await store.readAll(file.sha256);
  if (!content) throw new Error(`blob ${file.sha256} is missing`);
  try {
    return createRedirectTable(parseRedirectsFile(content, ''));
  } catch {
    return undefined;
  }
}

/** The answer, if a rule is for the path. Together two lists can lead in a circle: such a rule is passed over. */
export function answerRule(
  tables: readonly (RedirectTable | undefined)[],
  { path, query }: Target,
  as: 'html' | 'text',
): Answer | undefined {
  const match = findRedirect(tables, path);
  if (!match) return undefined;
  const location = locationOf(match, query);
  if (location === undefined) return answerPage('gone', as);
  if (!terminates(tables, path)) return undefined;
  // Not to be kept: the rules of a site can change at any moment, and its visitors are to see that at once.
  const fields = ['location', location, 'cache-control', 'public, max-age=0, must-revalidate', 'content-length', '0'];
  return { head: { status: match.rule.status, fields }, body: undefined };
}
