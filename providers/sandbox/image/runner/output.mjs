/** The output on stdout: the built files and the framework's caches. */
import { hash } from 'node:crypto';
import { closeSync, constants, createReadStream, fstatSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { SiteFailure } from './source.mjs';

/** Larger files exceed every limit: they are streamed without reading, and the worker refuses them. */
export const wholeBytesMax = 64 * 1_048_576;
const knownMax = 500;

/**
 * Everything below a folder except folders, by path, sorted within each.
 * @param {string} root
 * @param {string} folder
 * @returns {Generator<[path: string, item: import('node:fs').Dirent]>}
 */
export function* listFiles(root, folder) {
  const items = readable(folder, () => readdirSync(join(root, folder), { withFileTypes: true }));
  items.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const item of items) {
    const path = `${folder}/${item.name}`;
    if (item.isDirectory()) yield* listFiles(root, path);
    else yield [path, item];
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

/** @param {import('node:fs').Stats | import('node:fs').Dirent} found */
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
 * Writes `dist/` to the tar. A file whose hash is in `held` is only listed in a `held.json`.
 * @param {import('tar-stream').Pack} tar
 * @param {string} root
 * @param {ReadonlySet<string>} held
 */
export async function writeOutput(tar, root, held) {
  requireHome(root);
  const known = [];
  for (const [path, item] of listFiles(root, 'dist')) {
    if (!item.isFile())
      throw new SiteFailure(
        `The build wrote ${path}, which is ${kindOf(item)}. A site can contain only regular files.`,
      );
    const file = `${root}/${path}`;
    const content = readable(path, () => readPlain(file));
    if (!content) {
      const { size } = lstatSync(file);
      await pipeline(createReadStream(file), tar.entry({ name: path, size, mtime: new Date(0) }));
      continue;
    }
    const sha256 = held.size > 0 ? hash('sha256', content) : undefined;
    if (sha256 !== undefined && held.has(sha256)) known.push([path, sha256]);
    else await add(tar, path, content);
    // The worker reads them while this process reads the next files.
    if (known.length === knownMax) await add(tar, 'held.json', JSON.stringify(known.splice(0)));
  }
  await add(tar, 'held.json', JSON.stringify(known));
}

/**
 * Adds an entry with a copy of the content, and waits until there is room for the next.
 * @param {import('tar-stream').Pack} tar
 * @param {string} name
 * @param {string | Buffer} content
 * @returns {Promise<void>}
 */
export function add(tar, name, content) {
  return new Promise((resolve, reject) => {
    tar.entry({ name, mtime: new Date(0) }, Buffer.from(content), (error) => (error ? reject(error) : resolve()));
  });
}

// Most files fit, which saves asking for their size.
const shared = Buffer.allocUnsafe(65_536);

/**
 * The bytes of a regular file, until the next call; undefined if it is too large. Opening it follows no link and does not block on a pipe.
 * @param {string} path
 */
export function readPlain(path) {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const first = readInto(file, shared);
    if (first < shared.length) return shared.subarray(0, first);
    const { size } = fstatSync(file);
    if (size > wholeBytesMax) return undefined;
    const content = Buffer.allocUnsafe(size);
    return content.subarray(0, readInto(file, content));
  } finally {
    closeSync(file);
  }
}

/**
 * Reads from the start of the file until the buffer is full or the file ends. One call may read less, as of a file system in user space.
 * @param {number} file
 * @param {Buffer} into
 */
function readInto(file, into) {
  let read = 0;
  while (read < into.length) {
    const got = readSync(file, into, read, into.length - read, read);
    if (got === 0) break;
    read += got;
  }
  return read;
}
