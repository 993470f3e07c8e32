/** Maps request paths to files of a version. */
import type { ManifestFile } from './manifest.ts';

/** Files of a version. */
type Files = { get(path: string): ManifestFile | undefined };

export type Found = { file: ManifestFile } | { redirectTo: string } | undefined;

/**
 * `/path` is `path`, `path.html` or `path/index.html`. A folder's page has the address with a final slash, any other page the one
 * without, so that relative links always resolve the same.
 */
export function findFile(files: Files, path: string): Found {
  if (path === '' || path.endsWith('/')) return findFolder(files, path);
  const file = files.get(path) ?? files.get(`${path}.html`);
  if (file) return { file };
  return files.get(`${path}/index.html`) ? { redirectTo: `${path}/` } : undefined;
}

/** The path of a file as `findFile` takes it, of the path of a URL. Undefined if it is not UTF-8. */
export function decodedPath(sent: string): string | undefined {
  try {
    return decodeURIComponent((sent.split(/[?#]/, 1)[0] ?? '').slice(1));
  } catch {
    return undefined;
  }
}

/** The path at which `findFile` finds a page without a redirect. Not encoded. */
export const pathOfPage = (file: string): string => file.replace(/(^|\/)index\.html$/, '$1').replace(/\.html$/, '');

function findFolder(files: Files, path: string): Found {
  const index = files.get(`${path}index.html`);
  if (index) return { file: index };
  const page = path.slice(0, -1);
  return page !== '' && files.get(`${page}.html`) ? { redirectTo: page } : undefined;
}
