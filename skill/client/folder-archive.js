/** A folder as a tar in gzip, written here because the client has no dependencies. The format is pax (POSIX.1-2001). */
import { createReadStream, createWriteStream } from 'node:fs';
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { exits, Stop, usage } from './server.js';

const blockBytes = 512;

/**
 * The files of a folder that go into its archive, and the paths that do not: hidden files and links.
 * @param {string} folder
 */
export async function archivedFiles(folder) {
  const all = await filesBelow(folder);
  const files = all.filter(({ path, isFile }) => isFile && hiddenIn(path) === undefined);
  const leftOut = all.map(({ path, isFile }) => hiddenIn(path) ?? (isFile ? undefined : path));
  return { files, leftOut: [...new Set(leftOut.filter((path) => path !== undefined))] };
}

/**
 * Calls `use` with the path of the archive, which is removed afterwards, and with what is not in it.
 * @template Result
 * @param {string} folder
 * @param {(archive: string, leftOut: string[]) => Promise<Result>} use
 * @returns {Promise<Result>}
 */
export async function withArchive(folder, use) {
  const { files, leftOut } = await archivedFiles(folder);
  const home = await mkdtemp(join(tmpdir(), 'frontage-'));
  try {
    const archive = join(home, 'site.tar.gz');
    await pipeline(
      Readable.from(tarOf(files), { objectMode: false }),
      createGzip(),
      createWriteStream(archive, { mode: 0o600 }),
    );
    return await use(archive, leftOut);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/**
 * All but folders, in the order of their paths. Links are not followed: they may lead out of the folder.
 * @param {string} folder
 */
async function filesBelow(folder) {
  const items = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => {
    throw usage(`The folder ${folder} cannot be read.`);
  });
  return items
    .filter((item) => !item.isDirectory())
    .map((item) => {
      // `path` is the name of `parentPath` in Node 20 before 20.12.
      const file = join(item.parentPath ?? /** @type {any} */ (item).path, item.name);
      return { file, path: relative(folder, file).split(sep).join('/'), isFile: item.isFile() };
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/**
 * The hidden file or folder that a path is in, such as `.env` or `shop/.git`. `.well-known` is a part of websites.
 * @param {string} path
 */
const hiddenIn = (path) => /^(?:.*?\/)??\.(?!well-known\/)[^/]*/.exec(path)?.[0];

/** @param {{ file: string, path: string }[]} files */
async function* tarOf(files) {
  for (const { file, path } of files) {
    const { size } = await lstat(file);
    const record = paxRecord('path', path);
    yield* [header('pax', record.length, 'x'), padded(record), header('file', size, '0')];
    let sent = 0;
    for await (const chunk of createReadStream(file)) {
      sent += chunk.length;
      yield chunk;
    }
    if (sent !== size)
      throw new Stop(exits.refused, `${path} changed while it was read.`, { next: 'run the same command again' });
    yield Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes);
  }
  yield Buffer.alloc(2 * blockBytes);
}

/**
 * `<length> <name>=<value>\n`, whose length counts its own digits.
 * @param {string} name
 * @param {string} value
 */
function paxRecord(name, value) {
  const rest = ` ${name}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  let length = bytes;
  while (length !== bytes + String(length).length) length = bytes + String(length).length;
  return Buffer.from(`${length}${rest}`);
}

/**
 * @param {string} name
 * @param {number} size
 * @param {'x' | '0'} type
 */
function header(name, size, type) {
  const block = Buffer.alloc(blockBytes);
  block.write(name, 0);
  block.write('0000644\0', 100);
  block.write('0000000\0'.repeat(2), 108);
  block.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  block.write(`${'0'.repeat(11)}\0`, 136);
  block.write(' '.repeat(8), 148);
  block.write(type, 156);
  block.write('ustar\x0000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/** @param {Buffer} bytes */
function padded(bytes) {
  return Buffer.concat([bytes, Buffer.alloc((blockBytes - (bytes.length % blockBytes)) % blockBytes)]);
}
