/** Unpacks an archive into its own folder and validates all of it before anything is used. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { extract } from 'tar-stream';
import { ExportFault, type RowTable, type SiteDocument, siteDocument } from '#api/exports/document.ts';
import { type ManifestFile, parseManifest } from '#providers/manifest.ts';
import { outputFault } from '#providers/paths.ts';
import { timesFault } from '#rules/bookings/bounds.ts';

const entriesMax = 200_000;
const documentBytesMax = 256 * 1024 * 1024;

export type Unpacked = {
  document: SiteDocument;
  /** Files of the live version, by path. */
  files: ManifestFile[];
  /** Paths of the unpacked files. */
  path: { blob(sha256: string): string; pack(repository: 'source' | 'content'): string };
  blobs: ReadonlyMap<string, number>;
};

/** Throws ExportFault for anything that an export does not write. */
export async function unpackArchive(archive: string, dir: string): Promise<Unpacked> {
  const found = await extractEntries(archive, dir);
  if (!found.has('site.json')) throw refused('it contains no site.json');
  const document = readDocument(await readFile(join(dir, 'site.json'), 'utf8'));
  requireOneEach(document);
  const blobs = new Map<string, number>();
  for (const [name, { sha256, bytes }] of found) {
    if (name.startsWith('blobs/')) {
      if (name !== `blobs/${sha256}`) throw refused(`${name} does not match its hash`);
      blobs.set(sha256, bytes);
    } else if (name !== 'site.json') {
      const repository = document.repositories[name === 'source.pack' ? 'source' : 'content'];
      if (repository.pack !== sha256) throw refused(`${name} does not match its hash in site.json`);
    }
  }
  for (const repository of ['source', 'content'] as const)
    if (!found.has(`${repository}.pack`)) throw refused(`${repository}.pack is missing`);
  const path = {
    blob: (sha256: string) => join(dir, 'blobs', sha256),
    pack: (repository: 'source' | 'content') => join(dir, `${repository}.pack`),
  };
  const files = document.live ? await readFiles(path.blob(document.live.manifest), blobs, document.live.manifest) : [];
  requireBlobs(document, files, blobs);
  return { document, files, path, blobs };
}

export const refused = (why: string) =>
  new ExportFault(`This archive cannot be imported: ${why}. Nothing has been changed.`);

type Entry = { sha256: string; bytes: number };

async function extractEntries(archive: string, dir: string): Promise<Map<string, Entry>> {
  await mkdir(join(dir, 'blobs'), { recursive: true });
  const found = new Map<string, Entry>();
  const tar = extract();
  const reading = pipeline(createReadStream(archive), tar);
  reading.catch(() => {});
  try {
    for await (const entry of tar) {
      const { name, type, size = 0 } = entry.header;
      // The only valid names; none of them is outside the folder.
      if (type !== 'file' || !/^(site\.json|(source|content)\.pack|blobs\/[0-9a-f]{64})$/.test(name))
        throw refused('it contains a file that does not belong in a site export');
      if (found.has(name)) throw refused(`it contains ${name} twice`);
      if (found.size >= entriesMax) throw refused('it contains too many files');
      if (name === 'site.json' && size > documentBytesMax) throw refused('its site.json is too large');
      found.set(name, await keep(entry as AsyncIterable<Uint8Array>, join(dir, name)));
    }
    await reading;
  } catch (error) {
    if (error instanceof ExportFault) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new ExportFault(`The file ${archive} does not exist.`);
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') throw error;
    throw refused('it is not a complete tar archive');
  }
  return found;
}

async function keep(content: AsyncIterable<Uint8Array>, path: string): Promise<Entry> {
  const hash = createHash('sha256');
  let bytes = 0;
  async function* hashed() {
    for await (const chunk of content) {
      hash.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  }
  await pipeline(hashed(), createWriteStream(path, { mode: 0o600 }));
  return { sha256: hash.digest('hex'), bytes };
}

function readDocument(text: string): SiteDocument {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw refused('its site.json is not valid JSON');
  }
  const { success, data, error } = siteDocument.safeParse(json);
  if (success) return data;
  const [issue] = error.issues;
  throw refused(`site.json: ${issue?.path.join('.')}: ${issue?.message}`);
}

/** Tolerated difference between two clocks. */
const skewMs = 300_000;
const mayBeFuture = new Set(['expires_at', 'starts_at', 'ends_at']);

/** Refuses times of past events that are in the future. */
export function requirePast({ site, live, rows }: SiteDocument, now: Date): void {
  for (const row of [site, { blocked_at: site.blocked?.at }, live ?? {}, ...Object.values(rows).flat()]) {
    for (const [name, value] of Object.entries(row)) {
      const isPast = name.endsWith('_at') && !mayBeFuture.has(name) && typeof value === 'string';
      if (isPast && Date.parse(value) > now.getTime() + skewMs) throw refused(`${name} is in the future`);
    }
  }
}

/** Refuses bookings at times that no call of the API could give them. */
export function requirePossibleTimes({ rows }: SiteDocument, now: Date): void {
  for (const { id, starts_at, ends_at, busy_from, busy_until } of rows.booking) {
    const [starts, ends] = [Date.parse(starts_at), Date.parse(ends_at)];
    const times = { starts, ends, busyFrom: Date.parse(busy_from), busyUntil: Date.parse(busy_until) };
    const fault = timesFault(times, now.getTime() + skewMs);
    if (fault) throw refused(`the booking ${id} ${fault}`);
  }
}

/** Requires unique ids, and references only within the archive. */
function requireOneEach({ rows }: SiteDocument): void {
  const ids = (table: Exclude<RowTable, 'bookable'>) => {
    const all = rows[table].map(({ id }) => id);
    if (new Set(all).size < all.length) throw refused(`two rows in ${table} have the same id`);
    return new Set(all);
  };
  const [forms, calendars, threads] = [ids('form'), ids('calendar'), ids('comment_thread')];
  for (const table of ['submission', 'booking', 'comment_message', 'asset'] as const) ids(table);
  if (rows.bookable.length > 1) throw refused('it contains two timetables');
  const isOurs =
    rows.submission.every(({ form_id }) => forms.has(form_id)) &&
    rows.booking.every(({ calendar_id }) => calendars.has(calendar_id)) &&
    rows.comment_message.every(({ thread_id }) => threads.has(thread_id));
  if (!isOurs) throw refused('a row refers to a row that is not in the archive');
}

async function readFiles(path: string, blobs: ReadonlyMap<string, number>, sha256: string): Promise<ManifestFile[]> {
  if (!blobs.has(sha256)) throw refused('its file list is missing');
  let files: ManifestFile[];
  try {
    files = parseManifest(await readFile(path));
  } catch {
    throw refused('its file list is unreadable');
  }
  const seen = new Set<string>();
  for (const file of files) {
    if (typeof file?.path !== 'string' || outputFault(file.path) !== undefined || seen.has(file.path))
      throw refused('a file has an invalid path');
    seen.add(file.path);
    if (typeof file.sha256 !== 'string' || blobs.get(file.sha256) !== file.bytes)
      throw refused(`the contents of ${JSON.stringify(file.path)} are missing`);
  }
  return files;
}

function requireBlobs({ live, rows }: SiteDocument, files: ManifestFile[], blobs: ReadonlyMap<string, number>): void {
  const pictures = rows.comment_thread.flatMap(({ picture_sha256: picture }) => picture ?? []);
  const named = new Set([...(live ? [live.manifest] : []), ...files.map(({ sha256 }) => sha256), ...pictures]);
  for (const sha256 of named) if (!blobs.has(sha256)) throw refused(`the file ${sha256} is missing`);
  for (const sha256 of blobs.keys())
    if (!named.has(sha256)) throw refused(`it contains a file that nothing refers to: ${sha256}`);
}
