/** Downloads into files: `--to` names the file, and the end of its name the format. */
import { createWriteStream, renameSync, rmSync } from 'node:fs';
import { extname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { usage } from './server.js';

/** Media types of pictures, by the ends of their names. @type {Record<string, string>} */
const pictureTypes = { webp: 'webp', png: 'png', jpg: 'jpeg', jpeg: 'jpeg', gif: 'gif', avif: 'avif' };

/**
 * The format in a file's name: `png` for `home.PNG`.
 * @param {string} file
 */
export const formatOf = (file) => extname(file).slice(1).toLowerCase();

/**
 * Writes a response to a file, unless its name is that of another picture format.
 * @param {Response} response
 * @param {string} file
 */
export async function save(response, file) {
  const [, type] = /^image\/([a-z]+)/.exec(response.headers.get('content-type') ?? '') ?? [];
  const named = pictureTypes[formatOf(file)];
  if (type && named && named !== type) {
    await response.body?.cancel();
    throw usage(`The picture is in the format ${type}. Choose a name that ends with .${type}.`);
  }
  const part = `${file}.part`;
  try {
    await pipeline(/** @type {any} */ (response.body ?? []), createWriteStream(part));
    renameSync(part, file);
  } finally {
    rmSync(part, { force: true });
  }
}
