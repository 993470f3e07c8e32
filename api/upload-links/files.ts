/** A file sent by an upload link: its type is read from the bytes, its name sanitised, its place in the link reserved. */
import type { Readable } from 'node:stream';
import { fileTypeFromBuffer } from 'file-type';
import { missing } from '#api/capabilities.ts';
import { recorded } from '#api/source/commit-records.ts';
import { writeChanges } from '#api/source/commits.ts';
import type { Content, Files } from '#api/source/content.ts';
import { receiveUpload, storeBlob, type UploadStream } from '#api/source/upload-stream.ts';
import type { EntityManager } from '#db/orm.ts';
import { assetExtensions } from '#git/rules/formats.ts';
import { limitsOf } from '#rules/plan-limits.ts';
import type { Deps } from '#runtime/deps.ts';
import { AppError, errors } from '#runtime/errors.ts';
import { type HeldLink, recordFile, releaseFile, requireOpen, requireStillOpen, reserveFile } from './links.ts';
import { freePath, safeName } from './names.ts';
import { formatWords, refusalWords, sizeWords } from './words.ts';

const folder = 'src/assets/';
const headBytes = 65_536;

export type Received = { name: string; path: string; bytes: number; filesLeft: number };

/** Stores one file. Errors are worded for the person who has the link. */
export async function receiveFile(
  em: EntityManager,
  deps: Deps,
  opened: HeldLink,
  { name, body }: { name: string; body: Readable },
): Promise<Received> {
  const off = missing(deps.config, 'files');
  if (off) throw off;
  requireOpen(opened, deps.clock.now());
  const bytesMax = Math.min(opened.link.maxFileBytes, limitsOf(deps.config, opened.site, deps.clock.now()).file_bytes);
  const tooLarge = () => errors.plan_limit(`This file is larger than the limit of ${sizeWords(bytesMax)}.`);
  await using file = await receiveUpload(deps, body, { bytesMax, tooLarge });
  if (file.bytes === 0) throw errors.invalid_file('This file is empty.');
  const extension = await extensionFor(file, name);
  const { path, bytes } = await inPlainWords(async () => {
    const content = await storeBlob(
      em,
      deps,
      { site: opened.site, by: 'owner', path: `${folder}photo.${extension}` },
      file,
    );
    return { path: await commitInPlace(em, deps, opened, { name, extension, content }), bytes: content.bytes };
  });
  await em.refresh(opened.link);
  return { name, path, bytes, filesLeft: opened.link.maxFiles - opened.link.filesTaken };
}

/** Rules of a push address the site's developer; here the code stays and the words change. */
async function inPlainWords<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'internal') throw error;
    const { code, retryAfterSeconds } = error;
    const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
    throw errors[code](refusalWords(error), { cause: error, ...wait });
  }
}

/** The extension for the bytes' real type, whatever the name says. */
async function extensionFor(file: UploadStream, name: string): Promise<string> {
  const found = await fileTypeFromBuffer(await headOf(file));
  const named = /\.([a-z0-9]{1,10})$/i.exec(name)?.[1]?.toLowerCase();
  const isMarkup = found === undefined || found.ext === 'xml';
  if (isMarkup && named === 'svg') return 'svg';
  const extension = found?.ext === 'apng' ? 'png' : found?.ext;
  if (extension && assetExtensions.includes(extension)) return extension;
  throw errors.format_not_allowed(formatWords(found?.ext, found?.mime));
}

async function headOf(file: UploadStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of file.read()) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= headBytes) break;
  }
  return Buffer.concat(chunks);
}

/**
 * A place in the link is reserved last and released if the write fails: a link never accepts more than its limit, and a process that dies
 * loses at most one place.
 */
async function commitInPlace(
  em: EntityManager,
  deps: Deps,
  { link, site }: HeldLink,
  { name, extension, content }: { name: string; extension: string; content: Content },
): Promise<string> {
  const place = { taken: false, filled: false };
  const record = (tx: EntityManager, file: { path: string; isNew: boolean }) =>
    recordFile(tx, deps, link, { ...file, oid: content.oid });
  try {
    const good = safeName(name);
    const { filesChanged, changes } = await writeChanges(em, deps, {
      site,
      repository: 'source',
      message: `Add ${good}.${extension} through an upload link`,
      by: { accountId: link.account.id },
      source: 'upload_link',
      async begin() {
        await requireStillOpen(deps, link.id);
        place.taken = await reserveFile(em, deps, link.id);
        if (!place.taken) throw errors.plan_limit('This link cannot accept any more photos.');
      },
      plan: (files) => [{ path: placeFor(files, good, extension, content.oid), content }],
      record: (tx, [file]) => record(tx, { path: file?.path ?? '', isNew: true }),
    });
    const path = changes[0]?.path ?? '';
    place.filled = filesChanged > 0 || (await recorded(deps, record(em, { path, isNew: false })));
    return path;
  } finally {
    if (place.taken && !place.filled) await releaseFile(em, link.id);
  }
}

/** A free path, or the path that already has these bytes when a file is sent again after a broken connection. */
function placeFor(files: Files, name: string, extension: string, oid: string): string {
  // A clone may be on a file system that ignores case.
  const taken = new Set([...files.keys()].map((path) => path.normalize('NFC').toLowerCase()));
  const isFree = (path: string) => files.get(path)?.oid === oid || !taken.has(path);
  return freePath(folder, name, extension, isFree);
}
