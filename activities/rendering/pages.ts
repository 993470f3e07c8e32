/** Which pages of a version are checked. Pure. */
import type { ManifestChanges, ManifestFile } from '#providers/manifest.ts';
import { contentTypeOf } from '#providers/media-types.ts';

/** Of one check that names no pages. */
const pagesMax = 10;

type Pages = { pages: string[]; left: number };

/** The pages of a version: the home page first, then those with the shortest paths. */
export const pagesOf = (files: readonly ManifestFile[]): Pages => firstOf(files.map(({ path }) => path));

/** The pages that changed; if anything else did that pages use, also the home page. */
export function changedPages(files: readonly ManifestFile[], { added, modified, removed }: ManifestChanges): Pages {
  const changed = [...added, ...modified].map(({ path }) => path);
  const isPart = [...changed, ...removed.map(({ path }) => path)].some((path) => !isPage(path));
  const home = isPart && files.some(({ path }) => path === 'index.html') ? ['index.html'] : [];
  return firstOf([...new Set([...home, ...changed])]);
}

const isPage = (path: string) => contentTypeOf(path).startsWith('text/html') && !/(^|\/)404\.html$/.test(path);

function firstOf(paths: readonly string[]): Pages {
  const pages = paths.filter(isPage).map(addressOf);
  pages.sort((a, b) => a.split('/').length - b.split('/').length || a.length - b.length || (a < b ? -1 : 1));
  return { pages: pages.slice(0, pagesMax), left: Math.max(0, pages.length - pagesMax) };
}

/** The address at which an edge serves the page. */
function addressOf(path: string): string {
  const address = path.replace(/(^|\/)index\.html$/, '$1').replace(/\.html$/, '');
  return `/${address.split('/').map(encodeURIComponent).join('/')}`;
}
