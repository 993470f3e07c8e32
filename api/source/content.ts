/** A file's bytes on their way into a repository: in memory, or already written as a blob of git. */
import { createHash } from 'node:crypto';
import { blobId } from '#git/rules.ts';
import type { Change, TreeEntry } from '#providers/repositories.ts';

export type Content = {
  oid: string;
  sha256: string;
  bytes: number;
  /** Absent where the blob is in the repository already, judged by its bytes. */
  buffer?: Buffer;
};

/** One file to write, or to remove where `content` is null. */
export type PlannedChange = { path: string; content: Content | null };

/** What a tree holds, by path. */
export type Files = ReadonlyMap<string, TreeEntry>;

/** A change with what the rules ask about it. */
export type Edit = { path: string; content: Content | null; mode: '100644' | '100755'; change: Change };

/** A file keeps the mode that it has. */
export function editOf(path: string, content: Content | null, file: TreeEntry | undefined): Edit {
  const mode = file?.mode === '100755' ? '100755' : '100644';
  if (content === null) return { path, content, mode, change: { path, bytes: null } };
  const { buffer, oid } = content;
  return { path, content, mode, change: buffer ? { path, bytes: buffer, mode } : { path, oid, mode } };
}

export function contentOf(buffer: Buffer): Content {
  const sha256 = createHash('sha256').update(buffer).digest('hex');
  return { oid: blobId(buffer), sha256, bytes: buffer.length, buffer };
}
