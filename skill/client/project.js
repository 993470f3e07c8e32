/** What becomes of each file of an Astro project in the two repositories of a site. */
import { lstat, readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { ignoredBelow } from './ignored.js';

/**
 * The files of a project by the repository they go to, and why others do not. The root is the folder that is built: it ends in `/`, or is empty.
 * @typedef {{ root: string, source: Map<string, string>, content: Map<string, string>, dropped: { path: string, why: string }[] }} Plan
 */

const frozen =
  /^(package(-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-(lock|workspace)\.yaml|bun\.lockb?|deno\.lock)$/i;
const pictures = '.jpg .jpeg .png .webp .avif .gif';
const content = listOf(`.md .mdx .mdoc .json .yaml .yml .toml .csv ${pictures}`);
const served = listOf(`.ico .svg .txt .webmanifest .json .csv .ics .woff2 .mp4 .webm .mp3 .vtt .pdf ${pictures}`);
const assets = listOf(`.tif .tiff .svg .woff2 .woff .ttf .otf .ico .css .scss ${pictures}`);
/** What `public/` may have besides. `src/static/` takes nothing that a browser executes, so an endpoint of the site serves it. */
const byEndpoint = listOf('.js .mjs .css .map .html .xml .xsl .yml .yaml .wasm .woff .ttf .otf');
const code = listOf('.astro .js .mjs .cjs .jsx .ts .mts .cts .tsx .svelte .vue .css .scss .sass');

/** Where the files are that endpoints serve, which an import adds. */
export const besidePublic = 'src/beside-public/';

/** @param {string} text */
function listOf(text) {
  return new Set(text.split(' '));
}

/**
 * Reads the names of the files only. Links are not followed: they may lead out of the folder.
 * @param {string} folder
 * @returns {Promise<Plan>} Paths in the repositories, with the paths in the folder.
 */
export async function planOf(folder) {
  const root = await rootOf(folder);
  /** @type {Plan} */
  const plan = { root, source: new Map(), content: new Map(), dropped: [] };
  const isIgnored = await ignoredBelow(folder);
  const placed = (await filesBelow(folder, folder)).map(({ path, isFile }) => {
    if (isIgnored(path)) return { path, place: { why: 'git ignores it' } };
    return { path, place: isFile ? placeBelow(root, path) : { why: 'not a regular file' } };
  });
  /** @param {typeof placed[number]} one */
  const stays = ({ path, place }) => 'path' in place && place.path === path;
  // A file that is in its place already is kept, not one that would move there.
  for (const { path, place } of [...placed.filter(stays), ...placed.filter((one) => !stays(one))]) {
    if ('why' in place) plan.dropped.push({ path, why: place.why });
    else if (plan[place.repository].has(place.path))
      plan.dropped.push({ path, why: `same place as ${plan[place.repository].get(place.path)}` });
    else plan[place.repository].set(place.path, path);
  }
  return plan;
}

/**
 * Whether a folder is no part of the source: packages, output, or git's own. In `src/` and `public/` a folder `dist` is one as any other.
 * @param {string} path Relative to the project.
 */
export function isSkipped(path) {
  const above = path.split(sep);
  const name = above.pop() ?? '';
  if (name === 'dist') return !above.includes('src') && !above.includes('public');
  return ['node_modules', '.astro', '.git'].includes(name);
}

const settingsLengthMax = 16_384;

/**
 * The text of a file of settings; empty without one. A link is not followed: it may lead out of the folder, or to what has no end.
 * @param {string} path
 */
export async function readSettings(path) {
  const found = await lstat(path).catch(() => undefined);
  return found?.isFile() ? (await readFile(path, 'utf8')).slice(0, settingsLengthMax) : '';
}

/**
 * The folder that `[build]` of `frontage.toml` names, which ends in `/`; empty for the project itself.
 * @param {string} folder
 */
async function rootOf(folder) {
  const text = await readSettings(join(folder, 'frontage.toml'));
  const root = /^\[build\][^[]*?^[ \t]*root[ \t]*=[ \t]*["']([^"']*)["']/m.exec(text)?.[1] ?? '';
  return root === '' ? '' : `${root.replace(/\/$/, '')}/`;
}

/** @typedef {{ repository: 'source' | 'content', path: string } | { why: string }} Placed */

/**
 * A file outside the root is kept, but not built.
 * @param {string} root
 * @param {string} path
 * @returns {Placed}
 */
function placeBelow(root, path) {
  const isWellKnown = path.startsWith(`${root}public/.well-known/`) && !path.slice(root.length + 8).includes('/.');
  if (/(^|\/)\./.test(path) && !isWellKnown) return { why: 'hidden' };
  // Windows takes it for .git, and a copy of it would be run.
  if (/(^|\/)git~\d/i.test(path)) return { why: 'a name that some systems treat as the .git folder' };
  if (frozen.test(path.slice(path.lastIndexOf('/') + 1))) return { why: 'the platform has its own' };
  if (!path.startsWith(root)) return { repository: 'source', path };
  const place = placeOf(path.slice(root.length));
  return 'repository' in place && place.repository === 'source' ? { ...place, path: root + place.path } : place;
}

/**
 * @param {string} path
 * @returns {Placed}
 */
function placeOf(path) {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const extension = extname(name).toLowerCase();
  const [, inPublic] = /^public\/(.+)$/.exec(path) ?? [];
  const [, inContent] = /^src\/content\/(.+)$/.exec(path) ?? [];
  if (inPublic === '_headers' || inPublic === '_redirects') return { repository: 'source', path: inPublic };
  if (inPublic !== undefined) {
    if (served.has(extension) || (inPublic.startsWith('.well-known/') && extension === ''))
      return { repository: 'source', path: `src/static/${inPublic}` };
    // Astro makes no page of another name, or one with parameters.
    if (byEndpoint.has(extension) && inPublic.split('/').every((part) => /^[A-Za-z0-9][\w.@~-]*$/.test(part)))
      return { repository: 'source', path: besidePublic + inPublic };
    return { why: 'no file of this format is served unchanged' };
  }
  const [, inAssets] = /^src\/assets\/(.+)$/.exec(path) ?? [];
  if (inAssets !== undefined && !assets.has(extension) && !name.endsWith('.credit.json')) {
    if (!code.has(extension) && extension !== '.json') return { why: 'src/assets/ takes pictures, fonts and styles' };
    return { repository: 'source', path: `src/beside-assets/${inAssets}` };
  }
  if (inContent === undefined) return { repository: 'source', path };
  if (/^config\.[mc]?[jt]s$/.test(inContent)) return { repository: 'source', path: `src/content.${inContent}` };
  if (content.has(extension)) return { repository: 'content', path: inContent };
  // The content repository takes no code: the imports of the posts change with it.
  if (code.has(extension)) return { repository: 'source', path: `src/beside-content/${inContent}` };
  return { why: 'no format of content' };
}

/**
 * @param {string} root
 * @param {string} folder
 * @returns {Promise<{ path: string, isFile: boolean }[]>}
 */
async function filesBelow(root, folder) {
  const items = await readdir(folder, { withFileTypes: true });
  const below = items
    .filter(({ name }) => !isSkipped(relative(root, join(folder, name))))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(async (item) => {
      const path = join(folder, item.name);
      if (item.isDirectory()) return filesBelow(root, path);
      return [{ path: relative(root, path).split(sep).join('/'), isFile: item.isFile() }];
    });
  return (await Promise.all(below)).flat();
}
