/** Unpacks a tar from the worker. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { extract } from 'tar-stream';

/** A failure that the owner of the site can fix; the message is for them. */
export class SiteFailure extends Error {
  /** @param {string} message */
  constructor(message, { outOfMemory = false } = {}) {
    super(message);
    this.outOfMemory = outOfMemory;
  }
}

/**
 * Writes the tar's files below `root`. The worker made the tar, so anything but regular files is a platform error.
 * @param {import('node:stream').Readable} stream
 * @param {string} root
 */
export async function unpack(stream, root) {
  const entries = extract();
  const fed = pipeline(stream, entries);
  fed.catch(() => {}); // The loop below gets the same error.
  const made = new Set();
  // Synchronous, because waiting for each write to the in-memory folder would take most of the time.
  /** @param {string} folder */
  const make = (folder) => made.has(folder) || (made.add(folder) && mkdirSync(folder, { recursive: true }));
  for await (const entry of entries) {
    const { name, type } = entry.header;
    const path = join(root, checkPath(name));
    if (type === 'directory') make(path);
    else if (type === 'file' || type === 'contiguous-file') {
      make(dirname(path));
      writeFileSync(path, await contentOf(entry), { flag: 'wx' });
      continue;
    } else throw new Error(`The source contains ${name}, a ${type}.`);
    entry.resume();
  }
  await fed;
}

/** @param {AsyncIterable<unknown>} entry */
async function contentOf(entry) {
  /** @type {Buffer[]} */
  const chunks = [];
  for await (const chunk of entry) chunks.push(/** @type {Buffer} */ (chunk));
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

/** @param {string} name */
function checkPath(name) {
  const parts = name.replace(/\/$/, '').split('/');
  const plain = parts.every((part) => part !== '' && part !== '.' && part !== '..');
  if (!plain || name.includes('\0')) throw new Error(`The source contains an invalid path, ${JSON.stringify(name)}.`);
  if (parts[0] === 'node_modules') {
    throw new SiteFailure(
      'The source contains a node_modules folder. Remove it from git; the platform provides the packages.',
    );
  }
  return parts.join('/');
}
