/** Validates a write to the source by the rules of a push, with the same code, before it enters the repository's history. */

import { checkContent, checkTree, needsBytes, type Rules, sentence, type Violation } from '#git/rules.ts';
import { contentFolder } from '#providers/paths.ts';
import type { TreeEntry } from '#providers/repositories.ts';
import type { Repository } from '#rules/states.ts';
import { type AppError, errors } from '#runtime/errors.ts';
import { type Edit, type Files, inOnePiece } from './content.ts';

/** Throws if the tree after these edits breaks a rule. Bytes that were validated when they arrived are not read again. */
export async function requireAllowed(rules: Rules, files: Files, edits: readonly Edit[]): Promise<void> {
  const after = new Map(files);
  const differences = edits.map(({ path, content, mode }) => {
    if (content === null) {
      after.delete(path);
      return { path, oid: null, mode: null };
    }
    const file = { path, oid: content.oid, bytes: content.bytes, mode };
    after.set(path, file);
    return file;
  });
  const verdicts = checkTree(rules, [...after.values()], differences);
  if (verdicts.length === 0) verdicts.push(...pathConflicts(after, edits));
  if (verdicts.length === 0) verdicts.push(...(await validateBuffers(rules.repository, edits)));
  if (verdicts.length > 0) throw refusalError(rules.repository, verdicts);
}

/** Throws if these files exceed the limit on their number or total size. */
export function requireTotals(rules: Rules, files: readonly TreeEntry[]): void {
  const verdicts = checkTree(rules, files, []);
  if (verdicts.length > 0) throw refusalError(rules.repository, verdicts);
}

/** Throws if no file may have this path, whatever its bytes. Checked before the bytes are received. */
export function requireName(rules: Rules, path: string): void {
  const verdicts = checkTree(rules, [], [{ path, oid: '0'.repeat(40), mode: '100644' }]);
  if (verdicts.length > 0) throw refusalError(rules.repository, verdicts);
}

/** Throws if these bytes are not allowed at this path. */
export async function requireContent(
  repository: Repository,
  path: string,
  content: AsyncIterable<Buffer>,
): Promise<void> {
  const verdict = needsBytes(repository, path) ? await checkContent(repository, path, content) : undefined;
  if (verdict) throw refusalError(repository, [verdict]);
}

/** A path cannot be both a file and a folder; git would silently drop one. */
function pathConflicts(after: Files, edits: readonly Edit[]): Violation[] {
  const folders = new Set([...after.keys()].flatMap(parents));
  const isClash = (path: string) => folders.has(path) || parents(path).some((folder) => after.has(folder));
  return edits
    .filter(({ path, content }) => content !== null && isClash(path))
    .map(({ path }) => ({
      code: 'invalid_path' as const,
      path,
      what: 'would be both a file and a folder',
      remedy: 'Delete the conflicting file or folder in the same commit, or choose another path.',
    }));
}

function parents(path: string): string[] {
  return [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index));
}

async function validateBuffers(repository: Repository, edits: readonly Edit[]): Promise<Violation[]> {
  const verdicts: Violation[] = [];
  for (const { path, content } of edits) {
    if (!content?.buffer) continue;
    const read = () => inOnePiece(content.sent ?? content.buffer ?? Buffer.alloc(0));
    const verdict = needsBytes(repository, path) ? await checkContent(repository, path, read()) : undefined;
    if (verdict) verdicts.push(verdict);
    else if (content.isUnreadable) verdicts.push(unreadablePhoto(path));
  }
  return verdicts;
}

/** Why a photo is refused whose metadata cannot be removed. */
export function unreadablePhoto(path: string): Violation {
  return {
    code: 'invalid_file',
    path,
    what: 'contains metadata that cannot be removed safely',
    remedy: 'Open the file in an editor and export it again.',
  };
}

/** The cause of an error for verdicts: the first of them. */
export class Refused extends Error {
  readonly reason: Violation['reason'];
  constructor({ code, reason }: Violation) {
    super(code);
    this.reason = reason;
  }
}

/** The error for these verdicts. */
export function refusalError(repository: Repository, verdicts: readonly Violation[]): AppError {
  const [first] = verdicts as [Violation];
  const folder = repository === 'content' ? contentFolder : '';
  const shown = verdicts.slice(0, 5).map((verdict) => sentence(verdict, folder));
  const more = verdicts.length > 5 ? [`${verdicts.length - 5} more changes were rejected.`] : [];
  return errors[first.code]([...shown, ...more].join(' '), { nextAction: first.remedy, cause: new Refused(first) });
}
