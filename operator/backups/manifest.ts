/** A backup's manifest: its parts by hash, and their source. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { StringDecoder } from 'node:string_decoder';
import { createGunzip, createGzip } from 'node:zlib';
import type { Store } from '#providers/store/store.ts';
import type { Repository } from '#rules/states.ts';
import { BackupFault, damaged } from './fault.ts';
import type { BackupRepository } from './repository.ts';

/** A part in the repository. Tables and lists are gzipped. */
export type Part = { sha256: string; bytes: number };
export type TablePart = Part & { name: string; columns: string[]; rows: number };

/**
 * A git repository: packs that together contain every object, a list of object ids (one per line), and its branches.
 */
export type RepositoryPart = {
  siteId: string;
  repository: Repository;
  packs: Part[];
  objects: Part;
  refs: Record<string, string>;
};

/** A file of the store. `compressed`: it had compressed representations. */
export type BlobLine = Part & { compressed?: true };

export type Manifest = {
  format: 1;
  name: string;
  /** Version of Frontage. */
  version: string;
  /** The backup contains everything that was acknowledged before this time. */
  at: string;
  endedAt: string;
  from: { baseUrl: string; baseDomain: string };
  /** The schema: names of the applied migrations. */
  migrations: string[];
  tables: TablePart[];
  /** JSON lines of `RepositoryPart` and of `BlobLine`. */
  repositories: Part & { count: number };
  blobs: Part & { count: number };
  /** The installation is configured without repositories. */
  withoutRepositories: boolean;
  /** Missing repositories of sites, as `site_… source`. */
  missing: string[];
  /**
   * Store files whose bytes do not match their hash. The backup contains those of which an earlier backup has an intact
   * copy. Absent in backups from before it was recorded.
   */
  corrupt?: string[];
};

/** Stores lines as one gzipped part. */
export async function putLines<Line>(store: Store, lines: AsyncIterable<Line> | Iterable<Line>) {
  let count = 0;
  async function* rendered() {
    for await (const line of lines) {
      count += 1;
      yield `${JSON.stringify(line)}\n`;
    }
  }
  return { ...(await putGzipped(store, Readable.from(rendered()))), count };
}

export async function putGzipped(store: Store, content: Readable): Promise<Part> {
  const gzip = createGzip({ level: 4 });
  const [{ sha256, bytes }] = await Promise.all([store.put(gzip), pipeline(content, gzip)]);
  return { sha256, bytes };
}

/** Lines of a gzipped part. Throws BackupFault if the bytes do not match the hash. */
export async function* readLines(store: Store, part: Part): AsyncGenerator<string> {
  const gunzip = createGunzip();
  const reading = pipeline(readPart(store, part), gunzip);
  reading.catch(() => {});
  yield* linesOf(gunzip);
  await reading;
}

/** Only a line feed ends a line: output of COPY and JSON can contain other line separators. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let begun = '';
  for await (const chunk of chunks) {
    const [first, ...more] = decoder.write(chunk).split('\n') as [string, ...string[]];
    begun += first;
    for (const next of more) {
      yield begun;
      begun = next;
    }
  }
  if (begun) yield begun;
}

/** The part's bytes. After the last one it throws BackupFault if they do not match the hash. */
export async function* readPart(store: Store, { sha256 }: Part): AsyncGenerator<Buffer> {
  const content = await store.read(sha256).catch(() => undefined);
  if (!content) throw damaged(`${sha256} is missing`);
  const hash = createHash('sha256');
  for await (const chunk of content) {
    hash.update(chunk as Buffer);
    yield chunk as Buffer;
  }
  if (hash.digest('hex') !== sha256) throw damaged(`${sha256} has changed`);
}

export async function isSound(store: Store, part: Part): Promise<boolean> {
  try {
    let bytes = 0;
    for await (const chunk of readPart(store, part)) bytes += chunk.length;
    return bytes === part.bytes;
  } catch {
    return false;
  }
}

export async function writeManifest(repository: BackupRepository, manifest: Manifest): Promise<void> {
  const { sha256 } = await repository.store.put(Buffer.from(JSON.stringify(manifest)));
  await repository.store.flush();
  await repository.write(manifest.name, sha256);
}

/** The backup with that name, or the newest one. Throws BackupFault. */
export async function readManifest(repository: BackupRepository, name?: string): Promise<Manifest> {
  const wanted = name ?? (await repository.names()).at(-1);
  const sha256 = wanted === undefined ? undefined : await repository.read(wanted);
  if (sha256 === undefined) throw new BackupFault('There is no such backup here. Run backup list to list the backups.');
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw damaged(`the file ${wanted} does not contain a hash`);
  const chunks: Buffer[] = [];
  for await (const chunk of readPart(repository.store, { sha256, bytes: 0 })) chunks.push(chunk);
  const manifest: Manifest = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  if (manifest.format !== 1)
    throw new BackupFault('This backup was created by a newer version of Frontage. Restore it with that version.');
  return manifest;
}
