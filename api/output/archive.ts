/** A whole site as one archive: read and validated as data while it arrives, and named in the manifest only at its end. */
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Actor, loadDeployment, roleOf } from '#api/access.ts';
import { recheckAuthorization } from '#api/plugins/bearer.ts';
import { receiveUpload } from '#api/source/upload-stream.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import { recordHeldFiles } from '#db/deployments/held-files.ts';
import type { EntityManager } from '#db/orm.ts';
import { isCompressible } from '#providers/media-types.ts';
import { printable } from '#providers/paths.ts';
import type { Encoding, Store } from '#providers/store/store.ts';
import { type PlanLimits, planLimitsOf } from '#rules/plan-limits.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import {
  type ArchiveBounds,
  type ArchiveEntry,
  invalidArchive,
  invalidEntry,
  isBomb,
  ratioMax,
  tooLargeArchive,
} from './archives/entries.ts';
import { createArchiveNames } from './archives/names.ts';
import { readTar } from './archives/tar.ts';
import { readZip } from './archives/zip.ts';
import { validateContent } from './content.ts';
import { refuseFile } from './files.ts';
import { requireOpenUpload } from './rules.ts';

export const archiveTypes = ['application/x-tar', 'application/gzip', 'application/zip'] as const;

export type SentArchive = { id: string; type: string | undefined; body: Readable };
type StoredFile = { path: string; sha256: string; bytes: number; encodings: readonly Encoding[] };

// Around the contents of each file: headers of two formats and a long path.
const overheadBytes = 4 * 1024;
/** Larger files are streamed to the store, one after another. */
const atOnceBytesMax = 1024 * 1024;
const atOnceMax = 8;

/**
 * Adds all files of the archive to the empty manifest of an upload, or none. An archive of the same files may come again: the answer to the first
 * may be lost. Returns the paths that were left out.
 * Throws `invalid_file`, `invalid_manifest`, `plan_limit`, `not_accepting_uploads`, `superseded`, `storage_error`.
 */
export async function receiveArchive(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  { id, type, body }: SentArchive,
): Promise<{ deployment: Deployment; leftOut: string[] }> {
  const deployment = await loadDeployment(em, actor, id);
  requireOpenUpload(deployment, deps.clock.now());
  await refuseNamed(em, deployment);
  const planLimits = planLimitsOf(deps.config, deployment.site, deps.clock.now(), roleOf(deployment.site, actor));
  const { files, leftOut } = await storeEntries(deps, planLimits, entriesOf(deps, type, body, boundsOf(planLimits)));
  if (files.length === 0) throw errors.invalid_manifest('The archive contains no files.');
  // The archive may have taken minutes.
  const current = deps.em();
  await recheckAuthorization(current, deps, actor);
  const named = await current.transactional(async (tx) => {
    // Before the deployment is locked: these rows refer to the site, which opening or completing an upload locks first.
    await recordHeldFiles(tx, deployment.site.id, files);
    await tx.execute('select 1 from deployment where id = ? for no key update', [id]);
    const locked = await tx.findOneOrFail(Deployment, { id }, { refresh: true, populate: ['site'] });
    requireOpenUpload(locked, deps.clock.now());
    if (!(await hasCome(tx, locked, files))) await insertArrived(tx, id, files);
    return locked;
  });
  return { deployment: named, leftOut };
}

function boundsOf({ limits }: PlanLimits): ArchiveBounds {
  const entriesMax = 2 * limits.site_files;
  return { entriesMax, bodyBytesMax: limits.site_bytes + entriesMax * overheadBytes };
}

/** Throws if the manifest has files that did not come with this version, as those of an archive do. */
async function refuseNamed(em: EntityManager, deployment: Deployment): Promise<void> {
  const query = 'select 1 from upload_file where deployment_id = ? and not came limit 1';
  const [some] = await em.execute<unknown[]>(query, [deployment.id]);
  if (some) throw notEmpty(deployment);
}

/** Whether the manifest has the files of this archive, whose bytes are all here now. Throws if it has others. */
async function hasCome(tx: EntityManager, deployment: Deployment, files: readonly StoredFile[]): Promise<boolean> {
  const named = await tx.execute<{ path: string; sha256: string; came: boolean }[]>(
    `select path, encode(sha256, 'hex') as sha256, came from upload_file where deployment_id = ?`,
    [deployment.id],
  );
  if (named.length === 0) return false;
  const sent = new Map(files.map(({ path, sha256 }) => [path, sha256]));
  const isSame = named.every(({ path, sha256, came }) => came && sent.get(path) === sha256);
  if (!isSame || named.length !== sent.size) throw notEmpty(deployment);
  await tx.execute('update upload_file set missing = false where deployment_id = ? and missing', [deployment.id]);
  return true;
}

function notEmpty({ number }: Deployment) {
  return errors.not_accepting_uploads(`Version ${number} has files already, and an archive is the whole version.`, {
    nextAction: 'Complete this version, or start a new upload and send the archive there.',
  });
}

async function* entriesOf(
  deps: Deps,
  type: string | undefined,
  body: Readable,
  bounds: ArchiveBounds,
): AsyncGenerator<ArchiveEntry> {
  const format = type?.split(';', 1)[0]?.trim().toLowerCase();
  if (format === 'application/x-tar' || format === 'application/gzip') {
    yield* readTar(body, bounds, { gzip: format === 'application/gzip' });
    return;
  }
  if (format !== 'application/zip') {
    body.resume();
    throw invalidArchive(
      `has the content-type ${printable(format ?? '')}; it must be one of ${archiveTypes.join(', ')}`,
    );
  }
  const tooLarge = () => tooLargeArchive('is larger than a site may be');
  await using file = await receiveUpload(deps, body, { bytesMax: bounds.bodyBytesMax, tooLarge });
  let unpacked = 0;
  for await (const entry of readZip(file.fd, bounds)) {
    unpacked += entry.bytes;
    if (isBomb(unpacked, file.bytes)) throw tooLargeArchive(`unpacks to over ${ratioMax} times its size`);
    yield entry;
  }
}

/** Several small files are stored at a time. */
async function storeEntries(
  { store }: Pick<Deps, 'store'>,
  planLimits: PlanLimits,
  entries: AsyncGenerator<ArchiveEntry>,
): Promise<{ files: StoredFile[]; leftOut: string[] }> {
  const names = createArchiveNames();
  const stored: Promise<StoredFile>[] = [];
  const storing = new Set<Promise<unknown>>();
  let bytes = 0;
  for await (const entry of entries) {
    if (entry.kind === 'folder') names.checkFolder(entry.name);
    if (entry.kind === 'other') throw invalidEntry(entry.name, 'is a link or a device, not a regular file');
    const path = entry.kind === 'file' ? names.accept(entry.name) : undefined;
    if (path === undefined) continue;
    bytes += entry.bytes;
    requireLimits(planLimits, { path, bytes: entry.bytes, files: stored.length + 1, siteBytes: bytes });
    const content = await entry.open();
    const small = entry.bytes <= atOnceBytesMax;
    const putting = small
      ? putSmall(store, path, entry.bytes, await bytesOf(content))
      : putFile(store, path, entry.bytes, checked(path, content));
    putting.catch(() => {}); // Awaited below.
    stored.push(putting);
    if (!small) await putting;
    const done = putting.finally(() => storing.delete(done)).catch(() => {});
    storing.add(done);
    if (storing.size >= atOnceMax) await Promise.race(storing);
  }
  return { files: await Promise.all(stored), leftOut: names.leftOut };
}

type Counted = { path: string; bytes: number; files: number; siteBytes: number };

function requireLimits({ limits, lift }: PlanLimits, { path, bytes, files, siteBytes }: Counted): void {
  const over = (what: string, name: 'file_bytes' | 'site_files' | 'site_bytes') =>
    errors.plan_limit(`${what} the limit of ${limits[name]}.`, { nextAction: `Make the site smaller. ${lift(name)}` });
  if (bytes > limits.file_bytes) throw over(`${printable(path)} has ${bytes} bytes, and exceeds`, 'file_bytes');
  if (files > limits.site_files) throw over('The number of files exceeds', 'site_files');
  if (siteBytes > limits.site_bytes) throw over('The site’s bytes exceed', 'site_bytes');
}

async function putFile(store: Store, path: string, claimed: number, content: Readable | Buffer): Promise<StoredFile> {
  const { sha256, bytes, encodings } = await store.put(content, { compress: isCompressible(path) });
  if (bytes !== claimed) throw invalidArchive(`claims ${claimed} bytes for ${printable(path)}, which has ${bytes}`);
  return { path, sha256, bytes, encodings };
}

/** With fewer streams than for a large file: they would take longer than to store it. */
async function putSmall(store: Store, path: string, claimed: number, content: Buffer): Promise<StoredFile> {
  const validator = validateContent(path);
  const fault = validator.write(content) ?? (await validator.end());
  if (fault) throw refuseFile(path, fault);
  return await putFile(store, path, claimed, content);
}

async function bytesOf(content: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Passes the file on, and fails if its contents do not match its name. */
function checked(path: string, content: Readable): Readable {
  const validator = validateContent(path);
  const through = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const fault = validator.write(chunk);
      done(fault ? refuseFile(path, fault) : null, chunk);
    },
    flush(done) {
      validator.end().then((fault) => done(fault ? refuseFile(path, fault) : null), done);
    },
  });
  pipeline(content, through).catch(() => {}); // The reader gets the same error.
  return through;
}

/** Their bytes have arrived with this version, so its completion syncs them to disk. */
async function insertArrived(tx: EntityManager, deploymentId: string, files: readonly StoredFile[]): Promise<void> {
  const rows = files.map(({ path, sha256, bytes }) => ({ path, sha256, bytes }));
  await tx.execute(
    `insert into upload_file (deployment_id, path, sha256, bytes, missing, came)
     select ?, file.path, decode(file.sha256, 'hex'), file.bytes, false, true
     from jsonb_to_recordset(?::jsonb) as file(path text, sha256 text, bytes bigint)`,
    [deploymentId, JSON.stringify(rows)],
  );
}
