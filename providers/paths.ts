/**
 * Validates paths. Everything that names a file uses it: a push, a commit by the API, an asset, the output of a build,
 * an uploaded manifest, an edge. Pure.
 *
 * There are two checks, because a file that a site may have in its source (`sourceFault`) is not always one that may be
 * served (`outputFault`), and vice versa: `package.json` belongs to the platform in a source and is a plain file in an
 * output. Both reject paths that could mean another place on any file system of a clone or a store.
 *
 * Both accept names in several cases, forms of Unicode, scripts and directions, names that begin with a dot or end in
 * one, and names that Windows reserves for devices: each is a file of its own and means one place.
 */

/** `what` completes a sentence that begins with the path. */
export type PathFault = { code: 'invalid_path' | 'frozen_file'; what: string };

/** Names that belong to the platform in a site's source, in every folder and every spelling. */
const frozenNames: ReadonlySet<string> = new Set([
  'package.json',
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  'bun.lock',
  'bun.lockb',
  'deno.lock',
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.pnpmfile.cjs',
]);

/** Where the build mounts the content repository in the source. */
export const contentFolder = 'src/content/';

const segmentBytesMax = 255;
export const pathBytesMax = 1024;

/** Why a site's source cannot have this path; undefined if it can. Relative to the repository or to the site. */
export function sourceFault(path: string): PathFault | undefined {
  const fault = placeFault(path);
  if (fault !== undefined) return { code: 'invalid_path', what: fault };
  if (isFrozen(path)) return { code: 'frozen_file', what: 'is managed by the platform' };
  const segments = path.split('/');
  if (!segments.some(isSubmoduleList)) return undefined;
  return { code: 'invalid_path', what: 'lists git submodules, which are not supported' };
}

/** Why a built site cannot have or serve this path; undefined if it can. Relative to the site's root. */
export function outputFault(path: string): PathFault | undefined {
  const fault = placeFault(path);
  return fault === undefined ? undefined : { code: 'invalid_path', what: fault };
}

// Matches nearly all paths. No ~ (short names), no leading dot, and lengths that need no counting.
const plain = /^(?:[a-z0-9_-][a-z0-9_.@+-]{0,99}\/){0,8}[a-z0-9_-][a-z0-9_.@+-]{0,99}$/i;

/** Why the path could mean more than one place below a root, or cannot be stored. */
function placeFault(path: string): string | undefined {
  if (plain.test(path)) return undefined;
  if (path === '') return 'is empty';
  if (!path.isWellFormed() || path.includes('\ufffd')) return 'has a name that is not UTF-8';
  if (/\p{Cc}/u.test(path)) return 'has a control character in its name';
  if (path.includes('\\')) return 'has a backslash in its name';
  if (/^[a-z]:/i.test(path)) return 'begins with a Windows drive letter';
  if (Buffer.byteLength(path) > pathBytesMax) return `has a path longer than ${pathBytesMax} bytes`;
  for (const segment of path.split('/')) {
    if (segment === '') return 'has an empty segment in its path';
    if (segment === '.' || segment === '..') return 'has a "." or ".." segment in its path';
    if (isGitFolder(segment)) return 'has a name that some systems treat as the .git folder';
    if (Buffer.byteLength(segment) > segmentBytesMax) return `has a name longer than ${segmentBytesMax} bytes`;
  }
  return undefined;
}

/** Whether a requested path is aimed at another parser: it contains `.` or `..`, a backslash or a control character. */
export function isEvasive(path: string): boolean {
  return /(?:^|\/)\.{1,2}(?:\/|$)|[\\\p{Cc}]/u.test(path);
}

/** Whether a path could write outside a clone by a careless git: worse than a name that sites cannot have. */
export function isHarmful(path: string): boolean {
  if (plain.test(path)) return false;
  return path.split('/').some((segment) => ['', '.', '..'].includes(segment) || isGitFolder(segment));
}

// Code points that HFS+ ignores when it compares names (git's utf8.c, next_hfs_char).
const ignorable = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

// The folders of a site are in many of its paths.
const canonicalNames = new Map<string, string>();
const canonicalNamesMax = 1000;

/**
 * One spelling for all names that some file system treats as the same: HFS+ ignores code points, NTFS ends a name at a
 * stream's colon and drops final dots and spaces, both ignore case.
 */
function canonical(segment: string): string {
  const known = canonicalNames.get(segment);
  if (known !== undefined) return known;
  const name = withoutFinal(segment.replace(ignorable, '').split(':', 1)[0] ?? '');
  // No file system has a longer name, and normalization of a hostile one takes the square of its length.
  if (name.length > segmentBytesMax) return name;
  const found = name.normalize('NFC').toLowerCase();
  if (canonicalNames.size >= canonicalNamesMax) canonicalNames.clear();
  if (segment.length <= segmentBytesMax) canonicalNames.set(segment, found);
  return found;
}

/** The name without final dots and spaces. A regular expression would take the square of their number. */
function withoutFinal(name: string): string {
  let end = name.length;
  while (end > 0 && (name[end - 1] === '.' || name[end - 1] === ' ')) end -= 1;
  return name.slice(0, end);
}

function isGitFolder(segment: string): boolean {
  return ['.git', 'git~1'].includes(canonical(segment));
}

/** `gi7eba~1` is its short name on NTFS if `gitmod~1` to `gitmod~4` are taken. */
function isSubmoduleList(segment: string): boolean {
  return /^(\.gitmodules|gitmod~[1-4]|gi7[0-9a-f]{3}~[0-9])$/.test(canonical(segment));
}

/** Whether a segment of the path is a frozen name. */
export function isFrozen(path: string): boolean {
  return path.split('/').some((segment) => frozenNames.has(canonical(segment)));
}

/** Whether the path is this folder or inside it, in any spelling. */
export function isWithin(folder: string, path: string): boolean {
  const wanted = folder.split('/');
  const segments = path.split('/');
  return wanted.every((name, index) => segments[index] !== undefined && canonical(segments[index]) === name);
}

/** Extension of a file's name in lower case, without the dot; '' if there is none. */
export function extensionOf(path: string): string {
  return /[^/]\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
}

/** A path that is safe to print on a terminal and in messages. */
export function printable(path: string): string {
  const shown = path.length > 200 ? `${path.slice(0, 200)}…` : path;
  return shown.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}
