/** A version of a site as a browser sees it: its files by the paths that the edge would serve, and nothing else. */
import type { Deployment } from '#db/deployments/deployment.ts';
import type { SiteFile, SiteVersion } from '#providers/browser/site-files.ts';
import { lookUpManifest } from '#providers/manifest-lookup.ts';
import { decodedPath, findFile } from '#providers/manifest-paths.ts';
import { contentTypeOf } from '#providers/media-types.ts';
import { publishedRedirects, redirectsFile } from '#providers/redirects/file.ts';
import { createRedirectTable, findRedirect, type RedirectRule, rewriteOf } from '#providers/redirects.ts';
import type { Store } from '#providers/store/store.ts';

const fileBytesMax = 32 * 1024 * 1024;
const notFoundPage = '404.html';

export type ShownVersion = SiteVersion & {
  /** Whether the edge would answer this path with a file or by a redirect rule. */
  leadsSomewhere(path: string): boolean;
};

/** Undefined if the store lacks the version's list of files. `rules`: those of the site, besides the version's own. */
export async function openVersion(
  store: Pick<Store, 'readAll'>,
  account: string,
  { manifestSha256, siteUrl }: Pick<Deployment, 'manifestSha256' | 'siteUrl'>,
  rules: readonly RedirectRule[],
): Promise<ShownVersion | undefined> {
  const manifest = manifestSha256 ? await store.readAll(manifestSha256) : undefined;
  if (!manifest || !manifestSha256) return undefined;
  const files = lookUpManifest(manifest);
  const { origin } = new URL(siteUrl);
  const own = files.get(redirectsFile);
  const written = own && (await store.readAll(own.sha256));
  const tables = [rules, written ? publishedRedirects(written, origin) : []].map(createRedirectTable);

  async function bytesAt(path: string, status?: number): Promise<SiteFile | undefined> {
    const file = files.get(path);
    const body = file && file.bytes <= fileBytesMax ? await store.readAll(file.sha256) : undefined;
    return body && { type: contentTypeOf(path), body, ...(status ? { status } : {}) };
  }

  /** The file of a rewrite. Of many paths, only those of pages are rewritten: HTML is no script or picture. */
  function rewritten(path: string): string | undefined {
    const match = findRedirect(tables, path);
    const target = match && rewriteOf(match);
    if (!match || target === undefined || (match.parts.size > 0 && /\.[a-z]\w*$/i.test(path))) return undefined;
    const found = findFile(files, target);
    const page = found && 'redirectTo' in found ? findFile(files, found.redirectTo) : found;
    return page && 'file' in page ? page.file.path : undefined;
  }

  return {
    // Another site may have the same files.
    key: `${origin} ${manifestSha256}`,
    account,
    origin,
    async read(sent) {
      const path = decodedPath(sent);
      const found = path === undefined ? undefined : findFile(files, path);
      if (found && 'redirectTo' in found) return { redirectTo: `/${encodeURI(found.redirectTo)}` };
      const shown = found?.file.path ?? (path === undefined ? undefined : rewritten(path));
      return shown === undefined ? await bytesAt(notFoundPage, 404) : await bytesAt(shown);
    },
    leadsSomewhere(sent) {
      const path = decodedPath(sent);
      return path !== undefined && (findFile(files, path) !== undefined || findRedirect(tables, path) !== undefined);
    },
  };
}
