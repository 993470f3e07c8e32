/** A file's bytes on their way into a repository: in memory, or already written as a git blob. */
import { createHash } from 'node:crypto';
import { applyPlan, planPhoto } from '#git/rules/photos.ts';
import { blobId } from '#git/rules.ts';
import type { Change, TreeEntry } from '#providers/repositories.ts';

export type Content = {
  oid: string;
  sha256: string;
  bytes: number;
  /** Absent if the repository already has the blob and it was validated. */
  buffer?: Buffer;
  /** A photo as it was sent, with its metadata. */
  sent?: Buffer;
  /** Whether its metadata could not be found, so that it must not be stored. */
  isUnreadable?: boolean;
};

/** One file to write, or to delete if `content` is null. */
export type PlannedChange = { path: string; content: Content | null };

/** A tree's files by path. */
export type Files = ReadonlyMap<string, TreeEntry>;

/** A change, with what the rules need to know about it. */
export type Edit = { path: string; content: Content | null; mode: '100644' | '100755'; change: Change };

/** An existing file keeps its mode. */
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

/** The same for bytes that a client sent: a photo loses its metadata. */
export async function receivedContent(sent: Buffer): Promise<Content> {
  const read = () => inOnePiece(sent);
  const plan = await planPhoto(read);
  if (plan === undefined) return contentOf(sent);
  if (plan === 'unreadable') return { ...contentOf(sent), isUnreadable: true };
  const stored: Buffer[] = [];
  for await (const chunk of applyPlan(read, plan)) stored.push(chunk);
  return { ...contentOf(Buffer.concat(stored)), sent };
}

/** The bytes as a stream of one chunk. */
export async function* inOnePiece(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
