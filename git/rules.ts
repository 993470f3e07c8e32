/**
 * The rules for files: the same for a push, for a commit by the API, and for every other way of adding a file to a
 * site.
 */
import { createHash, type Hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { extensionOf, isFrozen, isHarmful, isWithin, pathBytesMax, printable, sourceFault } from '#providers/paths.ts';
import type { Difference } from '#providers/repositories/tree-differences.ts';
import { foldersPerFile, type TreeEntry, type TreeExcess } from '#providers/repositories/trees.ts';
import type { PlanLimits } from '#rules/plan-limits.ts';
import type { Repository } from '#rules/states.ts';
import type { ErrorCode } from '#runtime/errors.ts';
import {
  acceptsName,
  type FormatFault,
  formatFault,
  isChallenge,
  mayBePointer,
  placeOf,
  placeRemedy,
  pointerFault,
} from './rules/formats.ts';

/**
 * Why a file is refused: `what` completes a sentence that begins with the path, `remedy` says how to fix it. For the
 * repository as a whole, the path is null and `what` is the sentence. `reason`: for who has words of their own for it.
 */
export type Violation = {
  code: ErrorCode;
  path: string | null;
  what: string;
  remedy: string;
  reason?: FormatFault['reason'] | 'site_full';
};

/**
 * What files are validated against: their repository, the limits, and the platform's own files by blob id. The id is
 * `anyBytes` if another release may have written the file.
 */
export type Rules = { repository: Repository; platform: ReadonlyMap<string, string> } & Pick<
  PlanLimits,
  'limits' | 'lift'
>;

/** The git blob id of these bytes. */
export function blobId(bytes: Uint8Array): string {
  return blobHash(bytes.length).update(bytes).digest('hex');
}

/** The same for a file that arrives in chunks: the digest after all chunks were added. */
export function blobHash(bytes: number): Hash {
  return createHash('sha1').update(`blob ${bytes}\0`);
}

export const anyBytes = '*';

/** The frozen files that the platform builds with, by name in the root of a site. */
export function platformFiles(): ReadonlyMap<string, Buffer> {
  const names = ['package.json', 'package-lock.json'];
  return new Map(
    names.map((name) => [name, readFileSync(resolve(import.meta.dirname, '../providers/sandbox/image', name))]),
  );
}

/** The same files by blob id. A site may contain exactly these bytes. */
export function readPlatformFiles(): ReadonlyMap<string, string> {
  return new Map([...platformFiles()].map(([name, bytes]) => [name, blobId(bytes)]));
}

/**
 * Validates the changes between the old and the new tip by names, modes and sizes, and the total size of the new tip.
 * `files` is the new tip: all of it, or one file more than the limit.
 */
export function checkTree(rules: Rules, files: readonly TreeEntry[], differences: readonly Difference[]): Violation[] {
  const sizes = new Map(files.map((file) => [file.path, file.bytes]));
  const verdicts = checkDifferences(rules, sizes, differences);
  return [...verdicts, checkTotals(rules, files)].filter((verdict) => verdict !== undefined);
}

/** Validates changes by names, modes and sizes. `sizes` are those of the new tip's files, by path. */
export function checkDifferences(
  rules: Rules,
  sizes: ReadonlyMap<string, number>,
  differences: readonly Difference[],
): Violation[] {
  return differences.flatMap((difference) => checkDifference(rules, difference, sizes.get(difference.path) ?? 0) ?? []);
}

function checkDifference(rules: Rules, difference: Difference, bytes: number): Violation | undefined {
  const { path, oid, mode } = difference;
  if (isFrozen(path)) return checkFrozen(rules, difference, bytes);
  if (oid === null) return undefined;
  const fault = sourceFault(path);
  if (fault) return refuse(fault.code, path, fault.what, 'Rename or remove the file.');
  if (mode === '160000') {
    return refuse('invalid_file', path, 'is a submodule', 'Add the files themselves to the repository.');
  }
  if (mode === '120000') {
    return refuse('invalid_file', path, 'is a symbolic link', 'Replace it with a copy of the file.');
  }
  if (mode !== '100644' && mode !== '100755') {
    return refuse('invalid_file', path, 'is not a regular file', 'Replace it with a regular file.');
  }
  if (bytes > rules.limits.file_bytes) {
    const fault = `exceeds the size limit of ${megabytes(rules.limits.file_bytes)} per file`;
    return refuse(
      'plan_limit',
      path,
      fault,
      `Reduce the file’s size, or remove it from the site. ${rules.lift('file_bytes')}`,
    );
  }
  return checkPlace(rules.repository, path);
}

/** Unchanged files are accepted whatever they contain: the platform's own may be newer, and the build uses those. */
function checkFrozen(rules: Rules, { path, oid, mode }: Difference, bytes: number): Violation | undefined {
  const { repository, platform, limits } = rules;
  const kept = platform.get(path);
  const isKept = oid === kept || (kept === anyBytes && bytes <= limits.file_bytes);
  if (repository === 'source' && oid !== null && mode === '100644' && isKept) return undefined;
  return refuse(
    'frozen_file',
    path,
    `is managed by the platform and cannot be ${oid === null ? 'removed' : 'added or changed'}`,
    'Restore the previous version; the build uses the packages provided by the platform.',
  );
}

/** Whether the folder of this path accepts a file of this name. */
export function checkPlace(repository: Repository, path: string): Violation | undefined {
  if (repository === 'source' && isWithin('src/content', path)) {
    return refuse(
      'crosses_repositories',
      path,
      'belongs in the content repository, which the build mounts at src/content/',
      'Push the file to the content repository instead, without "src/content/" in its path.',
    );
  }
  if (repository === 'source' && isChallenge(path))
    return refuse('invalid_path', path, 'has an address that the platform itself answers', 'Remove the file.');
  const place = placeOf(repository, path);
  if (!place || acceptsName(place, path)) return undefined;
  const what = `has a file format that ${place.name} does not accept`;
  return refuse('format_not_allowed', path, what, placeRemedy(place, path));
}

function checkTotals(rules: Rules, files: readonly TreeEntry[]): Violation | undefined {
  const { limits } = rules;
  if (files.length > limits.site_files) return refuseExcess(rules, { limit: 'files' });
  if (countFolders(files) > foldersPerFile * limits.site_files) return refuseExcess(rules, { limit: 'folders' });
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return bytes > limits.site_bytes ? refuseExcess(rules, { limit: 'bytes' }) : undefined;
}

function countFolders(files: readonly TreeEntry[]): number {
  const folders = new Set<string>();
  for (const { path } of files) {
    for (
      let end = path.lastIndexOf('/');
      end > 0 && !folders.has(path.slice(0, end));
      end = path.lastIndexOf('/', end - 1)
    )
      folders.add(path.slice(0, end));
  }
  return folders.size;
}

/** Why a tree that is too large to be listed is refused. */
export function refuseExcess({ limits, lift, repository }: Rules, { limit, path = '' }: TreeExcess): Violation {
  const refuseTotal = (most: string, name: 'site_files' | 'site_bytes'): Violation => {
    const what = `The ${repository} repository would contain more than ${most}`;
    const remedy = `Remove files and try again. ${lift(name)}`;
    return { ...refuse('plan_limit', null, what, remedy), reason: 'site_full' };
  };
  if (limit === 'files') return refuseTotal(`${limits.site_files} files`, 'site_files');
  if (limit === 'folders') return refuseTotal(`${foldersPerFile * limits.site_files} folders`, 'site_files');
  if (limit === 'bytes') return refuseTotal(megabytes(limits.site_bytes), 'site_bytes');
  if (limit === 'empty') {
    return refuse('invalid_path', path, 'is an empty folder', 'Remove the folder, or add a file to it.');
  }
  return refuse('invalid_path', path, `has a path longer than ${pathBytesMax} bytes`, 'Move or rename it.');
}

/** Why a commit larger than this is refused. */
export function refuseCommit(bytesMax: number): Violation {
  const remedy = 'Shorten its message (git rebase -i), then push again.';
  return refuse('invalid_file', null, `This push contains a commit of more than ${megabytes(bytesMax)}`, remedy);
}

/** Why a push that decompresses to more bytes than a site may have is refused. */
export function refuseInflation({ limits, lift }: Rules): Violation {
  return refuse(
    'plan_limit',
    null,
    `This push decompresses to more than ${megabytes(limits.site_bytes)}`,
    `Push fewer commits at a time, or remove large files from the history. ${lift('site_bytes')}`,
  );
}

/** Whether files at this path are validated by their bytes. */
export function needsBytes(repository: Repository, path: string): boolean {
  return placeOf(repository, path) !== undefined || mayBePointer(path);
}

/** Equal for two paths at which the same bytes are valid, or are not. */
export function formatKey(repository: Repository, path: string): string {
  return [placeOf(repository, path)?.name, extensionOf(path), path.toLowerCase().endsWith('.credit.json')].join(' ');
}

/** Validates one file by its bytes, after `checkTree`. `content` may be left unread in part. */
export async function checkContent(
  repository: Repository,
  path: string,
  content: AsyncIterable<Buffer>,
): Promise<Violation | undefined> {
  const place = placeOf(repository, path);
  const fault = await (place ? formatFault(place, path, content) : pointerFault(content));
  return fault && { ...fault, path };
}

/** Validates a path from an intermediate commit of a push: only names that would harm a clone are refused. */
export function checkHistoricPath(path: string): Violation | undefined {
  if (!isHarmful(path)) return undefined;
  const what = 'appears in the pushed history under a name that could harm anyone who clones the repository';
  return refuse('invalid_path', path, what, 'Remove it from the history (git rebase -i), then push again.');
}

/** The violation as a sentence. `folder` is the path of the repository in the site: '' or `src/content/`. */
export function sentence({ path, what }: Violation, folder = ''): string {
  return path === null ? `${what}.` : `${printable(folder + path)} ${what}.`;
}

function refuse(code: ErrorCode, path: string | null, what: string, remedy: string): Violation {
  return { code, path, what, remedy };
}

function megabytes(bytes: number): string {
  return bytes >= 1_048_576 ? `${Math.floor(bytes / 1_048_576)} MiB` : `${bytes} bytes`;
}
