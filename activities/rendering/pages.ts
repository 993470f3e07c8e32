/** Which pages of a version are checked, or compared with those of an earlier one. Pure. */
import { diffManifests, type ManifestChanges, type ManifestFile } from '#providers/manifest.ts';
import { decodedPath, findFile, pathOfPage } from '#providers/manifest-paths.ts';
import { contentTypeOf } from '#providers/media-types.ts';

/** Of one check or comparison that names no pages. */
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
  const pages = addressesOf(paths);
  return { pages: pages.slice(0, pagesMax), left: Math.max(0, pages.length - pagesMax) };
}

/** The pages among these files, those with the shortest addresses first. */
function addressesOf(paths: readonly string[]): string[] {
  const pages = paths.filter(isPage).map(addressOf);
  return pages.sort((a, b) => a.split('/').length - b.split('/').length || a.length - b.length || (a < b ? -1 : 1));
}

/** `both`: to be drawn, since they may look different. `added` and `removed` are in one of the versions only. */
export type PagesToCompare = { both: string[]; added: string[]; removed: string[]; left: number };

/** Those that changed first; if anything else did that pages use, then all others. `asked`: only these. */
export function pagesToCompare(
  before: readonly ManifestFile[],
  after: readonly ManifestFile[],
  asked: readonly string[] | null,
): PagesToCompare {
  if (asked) {
    const files = new Map(before.map((file) => [file.path, file]));
    const wasThere = (page: string) => findFile(files, decodedPath(page) ?? '') !== undefined;
    const both = asked.filter(wasThere);
    return { both, added: asked.filter((page) => !wasThere(page)), removed: [], left: 0 };
  }
  const changes = diffManifests([...before], [...after]);
  const [added, modified, removed] = [changes.added, changes.modified, changes.removed].map((files) =>
    files.map(({ path }) => path),
  ) as [string[], string[], string[]];
  const isPart = [...added, ...modified, ...removed].some((path) => !isPage(path));
  const known = new Set([...added, ...modified]);
  const others = isPart ? after.map(({ path }) => path).filter((path) => !known.has(path)) : [];
  const lists = [[...addressesOf(modified), ...addressesOf(others)], addressesOf(added), addressesOf(removed)];
  const [both = [], new_ = [], gone = []] = lists.map((pages) => pages.slice(0, pagesMax));
  const left = lists.reduce((sum, pages) => sum + Math.max(0, pages.length - pagesMax), 0);
  return { both, added: new_, removed: gone, left };
}

/** The address at which an edge serves the page. */
function addressOf(path: string): string {
  return `/${pathOfPage(path).split('/').map(encodeURIComponent).join('/')}`;
}
