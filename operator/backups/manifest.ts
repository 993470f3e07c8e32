/** What a backup is: its parts, by their hashes, and what they were taken from. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { StringDecoder } from 'node:string_decoder';
import { createGunzip, createGzip } from 'node:zlib';
import type { Store } from '#providers/store/store.ts';
import type { Repository } from '#rules/states.ts';
import { BackupFault, damaged } from './fault.ts';
import type { Place } from './repository.ts';

/** Bytes in the place. Tables and lists are gzipped. */
export type Part = { sha256: string; bytes: number };
export type TablePart = Part & { name: string; columns: string[]; rows: number };

/** A repository: its packs, which together hold every object, a list of these (one id a line), and where its branches stand. */
export type RepositoryPart = {
  siteId: string;
  repository: Repository;
  packs: Part[];
  objects: Part;
  refs: Record<string, string>;
};

/** A file of the store. `compressed`: it had compressed forms beside it. */
export type BlobLine = Part & { compressed?: true };

export type Manifest = {
  format: 1;
  name: string;
  /** Version of Frontage. */
  version: string;
  /** All that was acknowledged before this is in it. */
  at: string;
  endedAt: string;
  from: { baseUrl: string; baseDomain: string };
  /** The schema: names of the migrations that the database had. */
  migrations: string[];
  tables: TablePart[];
  /** Lists of JSON lines: of `RepositoryPart`, of `BlobLine`. */
  repositories: Part & { count: number };
  blobs: Part & { count: number };
  /** The installation is one without repositories: its configuration says so. */
  withoutRepositories: boolean;
  /** Repositories of sites that were not there to be copied, as `site_… source`. */
  missing: string[];
  /** Files of the store whose bytes were not what their names say. In it are those of them that an earlier backup had right. */
  spoilt: string[];
};

/** Puts lines as one gzipped part. */
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

/** Lines of text of a gzipped part. Throws BackupFault where it is not what its hash says. */
export async function* readLines(store: Store, part: Part): AsyncGenerator<string> {
  const gunzip = createGunzip();
  const reading = pipeline(readPart(store, part), gunzip);
  reading.catch(() => {});
  yield* linesOf(gunzip);
  await reading;
}

/** Lines end with a line feed and with nothing else: what COPY and JSON write has other ends of lines within. */
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

/** The part's bytes. Ends in a BackupFault where they are not what the hash says, after all of them were given. */
export async function* readPart(store: Store, { sha256 }: Part): AsyncGenerator<Buffer> {
  const content = await store.read(sha256).catch(() => undefined);
  if (!content) throw damaged(`${sha256} is missing`);
  const hash = createHash('sha256');
  for await (const chunk of content) {
    hash.update(chunk as Buffer);
    yield chunk as Buffer;
  }
  if (hash.digest('hex') !== sha256) throw damaged(`${sha256} is not what it was`);
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

export async function writeManifest(place: Place, manifest: Manifest): Promise<void> {
  const { sha256 } = await place.store.put(Buffer.from(JSON.stringify(manifest)));
  await place.store.flush();
  await place.write(manifest.name, sha256);
}

/** The backup of that name, or the newest. Throws BackupFault. */
export async function readManifest(place: Place, name?: string): Promise<Manifest> {
  const wanted = name ?? (await place.names()).at(-1);
  const sha256 = wanted === undefined ? undefined : await place.read(wanted);
  if (sha256 === undefined) throw new BackupFault('There is no such backup here. backup list says which there are.');
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw damaged(`the name ${wanted} leads nowhere`);
  const chunks: Buffer[] = [];
  for await (const chunk of readPart(place.store, { sha256, bytes: 0 })) chunks.push(chunk);
  const manifest: Manifest = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  if (manifest.format !== 1) throw new BackupFault('This backup was written by a newer Frontage: restore with that.');
  return manifest;
}
