/** Maps request paths to files of a version. */
import { other } from '#db/analytics/counts.ts';
import type { ManifestFile } from '#providers/manifest.ts';
import { contentTypeOf } from '#providers/media-types.ts';

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

function findFolder(files: Files, path: string): Found {
  const index = files.get(`${path}index.html`);
  if (index) return { file: index };
  const page = path.slice(0, -1);
  return page !== '' && files.get(`${page}.html`) ? { redirectTo: page } : undefined;
}

/** Whether the name contains a hash of its bytes, as the toolchain writes it: `_astro/index.DxY3_a1b.css`. */
export function isHashedAsset(path: string): boolean {
  if (!path.startsWith('_astro/')) return false;
  const hash = /\.([A-Za-z0-9_-]{8,})\.[a-z0-9]{1,10}$/.exec(path)?.[1];
  // Lower-case letters only are more likely a word than a hash.
  return hash !== undefined && /[A-Z0-9]/.test(hash);
}

/** Whether the response to a missing path may be a page. HTML in place of a script or picture causes obscure errors. */
export function wantsPage(path: string): boolean {
  if (path.startsWith('_astro/')) return false;
  const extension = /\.([A-Za-z0-9]{1,10})$/.exec(path)?.[1]?.toLowerCase();
  // `/notes/1.2` is a page, not a file of type `2`.
  return extension === undefined || extension === 'html' || extension === 'htm' || /^\d+$/.test(extension);
}

const addressMax = 300;

/** The address under which views of this file are counted; `undefined` if it is not a page. */
export function pageAddressOf(path: string): string | undefined {
  if (!contentTypeOf(path).startsWith('text/html') || path === '404.html') return undefined;
  const address = `/${path.replace(/(^|\/)index\.html$/, '$1').replace(/\.html$/, '')}`.toWellFormed();
  return address.length > addressMax ? other : address;
}
