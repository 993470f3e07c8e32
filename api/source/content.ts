/** A file's bytes on their way into a repository: in memory, or already written as a blob of git. */
import { createHash } from 'node:crypto';
import { blobId } from '../../git/rules.ts';

export type Content = {
  oid: string;
  sha256: string;
  bytes: number;
  /** Absent where the blob is in the repository already, judged by its bytes. */
  buffer?: Buffer;
};

/** One file to write, or to remove where `content` is null. */
export type Planned = { path: string; content: Content | null };

export function contentOf(buffer: Buffer): Content {
  const sha256 = createHash('sha256').update(buffer).digest('hex');
  return { oid: blobId(buffer), sha256, bytes: buffer.length, buffer };
}
