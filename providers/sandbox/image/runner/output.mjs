/** What goes out on stdout: the built files, and what the framework would like to find again. */
import { hash } from 'node:crypto';
import { closeSync, constants, createReadStream, fstatSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { SiteFailure } from './source.mjs';

/** Larger files are more than any site may have: they are not read, only sent, and refused on the other side. */
export const wholeBytesMax = 64 * 1_048_576;

/** Every path below a folder that is no folder itself, sorted within each. */
export function* listFiles(root, folder) {
  const items = readable(folder, () => readdirSync(join(root, folder), { withFileTypes: true }));
  items.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const item of items) {
    const path = `${folder}/${item.name}`;
    if (item.isDirectory()) yield* listFiles(root, path);
    else yield path;
  }
}

/** Site code may have left what cannot be read, or be named: that is its failure, not ours. */
function readable(path, read) {
  try {
    return read();
  } catch (error) {
    if (!error.code) throw error;
    const why = path.includes('\ufffd') ? 'its name is no UTF-8' : error.code;
    throw new SiteFailure(`The build wrote ${path.slice(0, 200)}, which cannot be read (${why}).`);
  }
}

const kinds = [
  ['isDirectory', 'a folder'],
  ['isSymbolicLink', 'a symbolic link'],
  ['isFIFO', 'a named pipe'],
  ['isSocket', 'a socket'],
  ['isBlockDevice', 'a device'],
  ['isCharacterDevice', 'a device'],
];

function kindOf(found) {
  return kinds.find(([test]) => found[test]())?.[1] ?? 'no regular file';
}

function requireHome(root) {
  const output = lstatSync(join(root, 'dist'), { throwIfNoEntry: false });
  if (output && !output.isDirectory()) {
    throw new SiteFailure(`The build made its output folder dist ${output.isFile() ? 'a file' : kindOf(output)}.`);
  }
  if (!output || !readable('dist', () => readdirSync(join(root, 'dist'))).includes('index.html')) {
    throw new SiteFailure('The build wrote no index.html. Add a home page, for example src/pages/index.astro.');
  }
}

/** Writes `dist/` to the tar. A file whose hash is among `held` is named in `held.json` and does not go out again. */
export async function writeOutput(tar, root, held) {
  requireHome(root);
  const known = [];
  for (const path of listFiles(root, 'dist')) {
    const found = readable(path, () => lstatSync(join(root, path)));
    if (!found.isFile()) {
      throw new SiteFailure(`The build wrote ${path}, which is ${kindOf(found)}. A site consists of regular files.`);
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
    if (held.has(sha256)) known.push([path, sha256]);
    else await add(tar, path, content);
  }
  await add(tar, 'held.json', JSON.stringify(known));
}

/** Adds an entry and waits until there is room for the next. */
export function add(tar, name, content) {
  return new Promise((resolve, reject) => {
    tar.entry({ name, mtime: new Date(0) }, content, (error) => (error ? reject(error) : resolve()));
  });
}

/** The bytes of a plain file; opening follows no link and waits for no pipe. */
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
