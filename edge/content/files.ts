/** What kind of file a path of a version is. */
import { other } from '#db/analytics/counts.ts';
import { pathOfPage } from '#providers/manifest-paths.ts';
import { contentTypeOf } from '#providers/media-types.ts';

/** Folders in which generators put only files whose names change with their bytes. */
export const hashedFolders = ['_astro/', '_app/immutable/', '_next/static/', '_nuxt/'] as const;
/** In it, generators put such files beside others. */
export const mixedFolder = 'assets/';
/** Nuxt replaces this file with each build. */
const notHashed = '_nuxt/builds/latest.json';

/** Whether the name changes with the file's bytes, as generators write it: `_astro/x.css`, `assets/index-DxY3a1bC.js`. */
export function isHashedAsset(path: string): boolean {
  if (isInHashedFolder(path)) return path !== notHashed;
  if (!path.startsWith(mixedFolder)) return false;
  const [, before = ''] = /^(.*)\.[A-Za-z0-9]{1,10}$/.exec(path.slice(path.lastIndexOf('/') + 1)) ?? [];
  return (
    isBase64Hash(/.[-.]([A-Za-z0-9_-]{8})$/.exec(before)?.[1]) || isHexHash(/.[-.]([0-9a-f]{8,})$/.exec(before)?.[1])
  );
}

function isInHashedFolder(path: string): boolean {
  return hashedFolders.some((folder) => path.startsWith(folder));
}

const isBase64Hash = (hash = '') => /[0-9]/.test(hash) && /[A-Z]/.test(hash);
const isHexHash = (hash = '') => /[0-9]/.test(hash) && /[a-f]/.test(hash);

/** Whether the response to a missing path may be a page. HTML in place of a script or picture causes obscure errors. */
export function wantsPage(path: string): boolean {
  if (isInHashedFolder(path)) return false;
  const extension = /\.([A-Za-z0-9]{1,10})$/.exec(path)?.[1]?.toLowerCase();
  // `/notes/1.2` is a page, not a file of type `2`.
  return extension === undefined || extension === 'html' || extension === 'htm' || /^\d+$/.test(extension);
}

const partOfPage = /^(?:image|font|audio|video)\/|javascript|json|xml|wasm|pdf|^text\/(?:css|plain|vtt|csv)/;

/** Whether a rewrite of many paths may answer this one with a page: `/users/jo.doe`, but no script and no picture. */
export function mayBePage(path: string): boolean {
  return wantsPage(path) || !(isInHashedFolder(path) || partOfPage.test(contentTypeOf(path)));
}

/** Whether browsers show the file as a page. */
export function isHtml(path: string): boolean {
  return /^(?:text\/html|application\/xhtml\+xml)/.test(contentTypeOf(path));
}

const addressMax = 300;

/** The address under which views of this file are counted; `undefined` if it is not a page. */
export function pageAddressOf(path: string): string | undefined {
  if (!contentTypeOf(path).startsWith('text/html') || /(^|\/)404\.html$/.test(path)) return undefined;
  const address = `/${pathOfPage(path)}`.toWellFormed();
  return address.length > addressMax ? other : address;
}
