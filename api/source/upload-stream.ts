/**
 * A file that is being received: streamed to disk, hashed and validated before it is written into the repository. The file is unlinked as
 * soon as it is open, so a process that dies leaves nothing behind.
 */
import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { applyPlan, planPhoto } from '#git/rules/photos.ts';
import { blobHash } from '#git/rules.ts';
import type { Role } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, errors } from '#runtime/errors.ts';
import { requireRepositories, requireSiteSize } from './commits.ts';
import type { Content } from './content.ts';
import { refusalError, requireContent, unreadablePhoto } from './validation.ts';

export type UploadStream = {
  bytes: number;
  sha256: string;
  /** Descriptor of the file, for readers of certain positions. */
  fd: number;
  /** The bytes from the start; can be read repeatedly. */
  read(): AsyncIterable<Buffer>;
  [Symbol.asyncDispose](): Promise<void>;
};

const pieceBytes = 65_536;

/** Receives a body. Throws the error from `tooLarge` as soon as it exceeds `bytesMax`, and `invalid_input` when it is incomplete. */
export async function receiveUpload(
  { config }: Pick<Deps, 'config'>,
  body: Readable,
  { bytesMax, tooLarge }: { bytesMax: number; tooLarge(): AppError },
): Promise<UploadStream> {
  // The connection may be lost before the body is read; the later read reports the error.
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
    // The rest of the request is read, so that the client can read the response.
    body.resume();
    throw error;
  }
  return {
    bytes,
    sha256: hash.digest('hex'),
    fd: file.fd,
    read: () => readFrom(file, bytes),
    [Symbol.asyncDispose]: () => file.close(),
  };
}

/**
 * Validates the file for a path of the source and writes its bytes as a blob that a commit can name. Throws the codes of the rules of a
 * push; and, since written bytes stay, the limits that would refuse the commit. A photo is stored without its metadata.
 */
export async function storeBlob(
  em: EntityManager,
  deps: Deps,
  { site, by, path }: { site: Site; by: Role; path: string },
  sent: UploadStream,
): Promise<Content> {
  await requireContent('source', path, sent.read());
  const file = await withoutMetadata(path, sent);
  const repositories = requireRepositories(deps);
  const known = await repositories.hasBlob(site.id, 'source', await blobIdOf(file));
  if (!known) await requireSiteSize(em, deps, site, { path, bytes: file.bytes, by });
  const oid = await repositories.writeBlob(site.id, 'source', file.read());
  return { oid, sha256: file.sha256, bytes: file.bytes };
}

type Stored = Pick<UploadStream, 'bytes' | 'sha256' | 'read'>;

async function withoutMetadata(path: string, sent: UploadStream): Promise<Stored> {
  const plan = await planPhoto(sent.read);
  if (plan === undefined) return sent;
  if (plan === 'unreadable') throw refusalError('source', [unreadablePhoto(path)]);
  const read = () => applyPlan(sent.read, plan);
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of read()) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex'), read };
}

async function blobIdOf(file: Stored): Promise<string> {
  const hash = blobHash(file.bytes);
  for await (const chunk of file.read()) hash.update(chunk);
  return hash.digest('hex');
}

async function* readFrom(file: FileHandle, bytes: number): AsyncGenerator<Buffer> {
  for (let position = 0; position < bytes; ) {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.allocUnsafe(pieceBytes), position });
    if (bytesRead === 0) throw new Error('a spooled upload is shorter than its recorded size');
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

/** Removes files of processes that died between creating and unlinking them. No file with a name is still needed. */
export async function sweepUploadStreams({ config }: Pick<Deps, 'config'>): Promise<void> {
  const dir = join(config.dataDir, 'incoming');
  const names = await readdir(dir).catch((): string[] => []);
  await Promise.all(names.map((name) => rm(join(dir, name), { force: true })));
}

/** The body's chunks. A client that disconnects is not an internal error. */
async function* readToEnd(body: Readable): AsyncGenerator<Buffer> {
  try {
    yield* body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  } catch (error) {
    if (error instanceof Error && !('code' in error && error.code === 'ENOSPC')) {
      throw errors.invalid_input('The upload ended before the file was complete.', {
        nextAction: 'Send the file again.',
        cause: error,
      });
    }
    throw error;
  }
}
