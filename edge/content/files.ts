/** Which file of a version a path means. */
import { other } from '#db/analytics/counts.ts';
import type { ManifestFile } from '#providers/manifest.ts';
import { contentTypeOf } from '#providers/media-types.ts';

/** Of a version, whatever holds them. */
type Files = { get(path: string): ManifestFile | undefined };

export type Found = { file: ManifestFile } | { redirectTo: string } | undefined;

/**
 * `/path` is `path`, `path.html` or `path/index.html`. A folder's page stands at the address with the slash, any other page at the
 * one without, so that relative links mean the same wherever a visitor came from.
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

/** Whether the name carries a hash of its bytes, as the toolchain writes it: `_astro/index.DxY3_a1b.css`. */
export function isHashedAsset(path: string): boolean {
  if (!path.startsWith('_astro/')) return false;
  const hash = /\.([A-Za-z0-9_-]{8,})\.[a-z0-9]{1,10}$/.exec(path)?.[1];
  // A word of small letters alone is more likely a person's choice than a hash.
  return hash !== undefined && /[A-Z0-9]/.test(hash);
}

/** Whether a missing path may be answered with a page. A script or picture that gets HTML fails in ways that are hard to see. */
export function wantsPage(path: string): boolean {
  if (path.startsWith('_astro/')) return false;
  const extension = /\.([A-Za-z0-9]{1,10})$/.exec(path)?.[1]?.toLowerCase();
  // `/notes/1.2` is a page's address, not a file of type `2`.
  return extension === undefined || extension === 'html' || extension === 'htm' || /^\d+$/.test(extension);
}

const addressMax = 300;

/** The one address under which views of this file are counted; `undefined` where it is no page. */
export function pageAddressOf(path: string): string | undefined {
  if (!contentTypeOf(path).startsWith('text/html') || path === '404.html') return undefined;
  const address = `/${path.replace(/(^|\/)index\.html$/, '$1').replace(/\.html$/, '')}`.toWellFormed();
  return address.length > addressMax ? other : address;
}
