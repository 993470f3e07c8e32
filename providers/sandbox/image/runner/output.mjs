/** The output on stdout: the built files and the framework's caches. */
import { hash } from 'node:crypto';
import { closeSync, constants, createReadStream, fstatSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { SiteFailure } from './source.mjs';

/** Larger files exceed every limit: they are streamed without reading, and the worker refuses them. */
export const wholeBytesMax = 64 * 1_048_576;

/**
 * Every path below a folder except folders, sorted within each.
 * @param {string} root
 * @param {string} folder
 * @returns {Generator<string>}
 */
export function* listFiles(root, folder) {
  const items = readable(folder, () => readdirSync(join(root, folder), { withFileTypes: true }));
  items.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const item of items) {
    const path = `${folder}/${item.name}`;
    if (item.isDirectory()) yield* listFiles(root, path);
    else yield path;
  }
}

/**
 * Reads a file or folder. If the site's build wrote an unreadable one, that is a failure of the site.
 * @template T
 * @param {string} path
 * @param {() => T} read
 */
function readable(path, read) {
  try {
    return read();
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    if (!code) throw error;
    const why = path.includes('\ufffd') ? 'its name is not UTF-8' : code;
    throw new SiteFailure(`The build wrote ${path.slice(0, 200)}, which cannot be read (${why}).`);
  }
}

/** @type {[test: 'isDirectory' | 'isSymbolicLink' | 'isFIFO' | 'isSocket' | 'isBlockDevice' | 'isCharacterDevice', name: string][]} */
const kinds = [
  ['isDirectory', 'a folder'],
  ['isSymbolicLink', 'a symbolic link'],
  ['isFIFO', 'a named pipe'],
  ['isSocket', 'a socket'],
  ['isBlockDevice', 'a device'],
  ['isCharacterDevice', 'a device'],
];

/** @param {import('node:fs').Stats} found */
function kindOf(found) {
  return kinds.find(([test]) => found[test]())?.[1] ?? 'not a regular file';
}

/** @param {string} root */
function requireHome(root) {
  const output = lstatSync(join(root, 'dist'), { throwIfNoEntry: false });
  if (output && !output.isDirectory()) {
    throw new SiteFailure(
      `The build’s output path dist must be a folder, but it is ${output.isFile() ? 'a file' : kindOf(output)}.`,
    );
  }
  if (!output || !readable('dist', () => readdirSync(join(root, 'dist'))).includes('index.html')) {
    throw new SiteFailure('The build wrote no index.html. Add a home page, for example src/pages/index.astro.');
  }
}

/**
 * Writes `dist/` to the tar. A file whose hash is in `held` is only listed in `held.json`.
 * @param {import('tar-stream').Pack} tar
 * @param {string} root
 * @param {ReadonlySet<string>} held
 */
export async function writeOutput(tar, root, held) {
  requireHome(root);
  const known = [];
  for (const path of listFiles(root, 'dist')) {
    const found = readable(path, () => lstatSync(join(root, path)));
    if (!found.isFile()) {
      throw new SiteFailure(
        `The build wrote ${path}, which is ${kindOf(found)}. A site can contain only regular files.`,
      );
    }
    if (found.size > wholeBytesMax) {
      await pipeline(
        createReadStream(join(root, path)),
        tar.entry({ name: path, size: found.size, mtime: new Date(0) }),
      );
      continue;
    }
    const content = readable(path, () => readPlain(join(root, path)));
    const sha256 = held.size > 0 ? hash('sha256', content) : undefined;
    if (sha256 !== undefined && held.has(sha256)) known.push([path, sha256]);
    else await add(tar, path, content);
  }
  await add(tar, 'held.json', JSON.stringify(known));
}

/**
 * Adds an entry and waits until there is room for the next.
 * @param {import('tar-stream').Pack} tar
 * @param {string} name
 * @param {string | Buffer} content
 * @returns {Promise<void>}
 */
export function add(tar, name, content) {
  return new Promise((resolve, reject) => {
    tar.entry({ name, mtime: new Date(0) }, content, (error) => (error ? reject(error) : resolve()));
  });
}

/**
 * The bytes of a regular file. Opening it follows no link and does not block on a pipe.
 * @param {string} path
 */
export function readPlain(path) {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const content = Buffer.allocUnsafe(fstatSync(file).size);
    let read = 0;
    while (read < content.length) {
      const got = readSync(file, content, read, content.length - read, read);
      if (got === 0) break;
      read += got;
    }
    return content.subarray(0, read);
  } finally {
    closeSync(file);
  }
}
