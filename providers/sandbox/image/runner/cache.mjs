/** The framework's own caches: passed only to the next build of the same site. */
import { lstatSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { add, listFiles, readPlain, wholeBytesMax } from './output.mjs';
import { unpack } from './source.mjs';

/** Content store and processed images. The bundler's folder contains code and is not needed. */
const kept = ['astro'];

/** @param {string} folder */
function* files(folder) {
  for (const part of kept) {
    if (!lstatSync(join(folder, part), { throwIfNoEntry: false })?.isDirectory()) continue;
    for (const [path] of listFiles(folder, part)) {
      const found = lstatSync(join(folder, path));
      if (found.isFile() && found.size <= wholeBytesMax) yield { path, bytes: found.size, changed: found.mtimeMs };
    }
  }
}

/**
 * A fingerprint of the folder: it changes with every write.
 * @param {string} folder
 */
function stateOf(folder) {
  return [...files(folder)].map(({ path, bytes, changed }) => `${path} ${bytes} ${changed}`).join('\n');
}

/**
 * Unpacks the cache of an earlier build. If there is none or it is unreadable, the build starts without one.
 * @param {AsyncIterable<Buffer>} stream
 * @param {string} folder
 */
export async function takeCache(stream, folder) {
  await unpack(stream, folder).catch(async () => {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder);
  });
  return stateOf(folder);
}

/**
 * Writes the folder as `cache/…` if it has changed. It includes only regular files; an unreadable one discards the cache.
 * @param {import('tar-stream').Pack} tar
 * @param {string} folder
 * @param {string | undefined} given
 */
export async function writeCache(tar, folder, given) {
  try {
    if (stateOf(folder) === given) return;
    for (const { path } of files(folder)) await add(tar, `cache/${path}`, readPlain(join(folder, path)) ?? '');
  } catch {
    // The build has succeeded; the next one starts without a cache.
    await add(tar, 'cache', '');
  }
}
