/** The framework's own caches: given back to the next build of the same site, and to no other. */
import { lstatSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { add, listFiles, readPlain, wholeBytesMax } from './output.mjs';
import { unpack } from './source.mjs';

/** Content store and processed images. The bundler's folder holds code, and no build needs it. */
const kept = ['astro'];

function* files(folder) {
  for (const part of kept) {
    if (!lstatSync(join(folder, part), { throwIfNoEntry: false })?.isDirectory()) continue;
    for (const path of listFiles(folder, part)) {
      const found = lstatSync(join(folder, path));
      if (found.isFile() && found.size <= wholeBytesMax) yield { path, bytes: found.size, changed: found.mtimeMs };
    }
  }
}

/** What the folder holds, in few words: equal words, and nothing was written since. */
function stateOf(folder) {
  return [...files(folder)].map(({ path, bytes, changed }) => `${path} ${bytes} ${changed}`).join('\n');
}

/** Puts what an earlier build left into the folder. What cannot be read is no cache: the build begins without. */
export async function takeCache(stream, folder) {
  await unpack(stream, folder).catch(async () => {
    stream.resume();
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder);
  });
  return stateOf(folder);
}

/** Writes the folder as `cache/…`, unless it is as it was given. What is no plain file stays behind; what cannot be read ends it. */
export async function writeCache(tar, folder, given) {
  try {
    if (stateOf(folder) === given) return;
    for (const { path } of files(folder)) await add(tar, `cache/${path}`, readPlain(join(folder, path)));
  } catch {
    // The build is done; its next one begins without.
    await add(tar, 'cache', '');
  }
}
