/**
 * A file on its way in: streamed to disk and hashed, judged, and only then written into the repository. The file on disk has no name
 * any more once it is open, so that whatever ends this process leaves nothing behind.
 */
import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { blobHash } from '#git/rules.ts';
import type { Role } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, errors } from '#runtime/errors.ts';
import { requireRepositories, requireSiteSize } from './commits.ts';
import type { Content } from './content.ts';
import { requireContent } from './validation.ts';

export type UploadStream = {
  bytes: number;
  sha256: string;
  /** The bytes from the start, as often as wanted. */
  read(): AsyncIterable<Buffer>;
  [Symbol.asyncDispose](): Promise<void>;
};

const pieceBytes = 65_536;

/** Takes a body in. Throws what `tooLarge` makes as soon as it is over `bytesMax`, and `invalid_input` when it breaks off. */
export async function receiveUpload(
  { config }: Pick<Deps, 'config'>,
  body: Readable,
  { bytesMax, tooLarge }: { bytesMax: number; tooLarge(): AppError },
): Promise<UploadStream> {
  // It may break off before anyone reads it; whoever reads it then hears of it.
  body.on('error', () => {});
  const file = await openUnlinkedFile(join(config.dataDir, 'incoming'));
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const chunk of readToEnd(body)) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw tooLarge();
      hash.update(chunk);
      await file.write(chunk);
    }
  } catch (error) {
    await file.close();
    // Whoever still sends is heard out, so that he reads the answer.
    body.resume();
    throw error;
  }
  return {
    bytes,
    sha256: hash.digest('hex'),
    read: () => readFrom(file, bytes),
    [Symbol.asyncDispose]: () => file.close(),
  };
}

/**
 * Judges the file for a path of the source and writes its bytes where a commit may name them. Throws the codes of the rules of a push; and,
 * since bytes once written stay, what would refuse the commit for want of room.
 */
export async function storeBlob(
  em: EntityManager,
  deps: Deps,
  { site, by, path }: { site: Site; by: Role; path: string },
  file: UploadStream,
): Promise<Content> {
  await requireContent('source', path, file.read());
  const repositories = requireRepositories(deps);
  const known = await repositories.hasBlob(site.id, 'source', await blobIdOf(file));
  if (!known) await requireSiteSize(em, deps, site, { path, bytes: file.bytes, by });
  const oid = await repositories.writeBlob(site.id, 'source', file.read());
  return { oid, sha256: file.sha256, bytes: file.bytes };
}

async function blobIdOf(file: UploadStream): Promise<string> {
  const hash = blobHash(file.bytes);
  for await (const chunk of file.read()) hash.update(chunk);
  return hash.digest('hex');
}

async function* readFrom(file: FileHandle, bytes: number): AsyncGenerator<Buffer> {
  for (let position = 0; position < bytes; ) {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.allocUnsafe(pieceBytes), position });
    if (bytesRead === 0) throw new Error('a file that came in is shorter than it was');
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

async function openUnlinkedFile(dir: string): Promise<FileHandle> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const path = join(dir, randomUUID());
  const file = await open(path, 'wx+', 0o600);
  await rm(path, { force: true });
  return file;
}

/** Removes names that processes left which were killed between opening a file and taking its name. Nobody needs a name that is here. */
export async function sweepUploadStreams({ config }: Pick<Deps, 'config'>): Promise<void> {
  const dir = join(config.dataDir, 'incoming');
  const names = await readdir(dir).catch((): string[] => []);
  await Promise.all(names.map((name) => rm(join(dir, name), { force: true })));
}

/** The body's chunks; a sender who goes away in the middle is no fault of ours. */
async function* readToEnd(body: Readable): AsyncGenerator<Buffer> {
  try {
    yield* body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  } catch (error) {
    if (error instanceof Error && !('code' in error && error.code === 'ENOSPC')) {
      throw errors.invalid_input('The upload of the file ended early.', {
        nextAction: 'Send it again.',
        cause: error,
      });
    }
    throw error;
  }
}
