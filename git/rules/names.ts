/** What a path may be called, on every file system that a clone may end up on. Pure. */

/** Names that belong to the platform, in every folder and every spelling. */
export const frozenNames: ReadonlySet<string> = new Set([
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

const segmentBytesMax = 255;
const pathBytesMax = 1024;

// Code points that HFS+ leaves out when it compares names (git's utf8.c, next_hfs_char).
const ignorable = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * One spelling for all names that some file system takes for the same: HFS+ ignores code points, NTFS ends a name at a stream's colon and
 * drops dots and spaces at the end, both ignore case.
 */
export function canonical(segment: string): string {
  const name = segment.replace(ignorable, '').split(':', 1)[0] ?? '';
  return name
    .replace(/[. ]+$/, '')
    .normalize('NFC')
    .toLowerCase();
}

/** Whether a file system could take the name for git's own folder. */
export function isGitFolder(segment: string): boolean {
  return ['.git', 'git~1'].includes(canonical(segment));
}

/** Whether a file system could take the name for the list of submodules; `gi7eba~1` is its short name where `gitmod~1` is taken. */
export function isSubmoduleList(segment: string): boolean {
  return /^(\.gitmodules|gitmod~[1-4]|gi7[0-9a-f]{3}~[0-9])$/.test(canonical(segment));
}

/** Whether a part of the path carries a frozen name. */
export function isFrozen(path: string): boolean {
  return path.split('/').some((segment) => frozenNames.has(canonical(segment)));
}

/** Whether the path is this folder or inside it, in any spelling. */
export function isWithin(folder: string, path: string): boolean {
  const wanted = folder.split('/');
  const segments = path.split('/');
  return wanted.every((name, index) => segments[index] !== undefined && canonical(segments[index]) === name);
}

/** Extension of a file's name in lower case, without the dot; '' where there is none. */
export function extensionOf(path: string): string {
  return /[^/]\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
}

/** What is wrong with a path; undefined when nothing is. Reads as the end of a sentence that begins with the path. */
export function pathFault(path: string): string | undefined {
  if (path === '') return 'is empty';
  if (!path.isWellFormed() || path.includes('\ufffd')) return 'has a name that is not UTF-8';
  if (/\p{Cc}/u.test(path)) return 'has a control character in its name';
  if (path.includes('\\')) return 'has a backslash in its name';
  if (Buffer.byteLength(path) > pathBytesMax) return `has a path of more than ${pathBytesMax} bytes`;
  for (const segment of path.split('/')) {
    if (segment === '') return 'has an empty folder or file name in its path';
    if (segment === '.' || segment === '..') return 'has "." or ".." as a name in its path';
    if (isGitFolder(segment)) return 'has a name that some systems take for the folder .git';
    if (isSubmoduleList(segment)) return 'is the list of submodules, which sites cannot have';
    if (Buffer.byteLength(segment) > segmentBytesMax) return `has a name of more than ${segmentBytesMax} bytes`;
  }
  return undefined;
}

/** Whether a path could write where it should not in the clone of a careless git: worse than a name that sites do not take. */
export function isHarmful(path: string): boolean {
  return path.split('/').some((segment) => ['', '.', '..'].includes(segment) || isGitFolder(segment));
}

/** A path that is safe to print on a terminal and in a message. */
export function printable(path: string): string {
  const shown = path.length > 200 ? `${path.slice(0, 200)}…` : path;
  return shown.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}
