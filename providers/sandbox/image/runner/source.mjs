/** Unpacks a tar from the worker. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readCounted } from './parts.mjs';

/** A failure that the owner of the site can fix; the message is for them. */
export class SiteFailure extends Error {
  /** @param {string} message */
  constructor(message, { outOfMemory = false } = {}) {
    super(message);
    this.outOfMemory = outOfMemory;
  }
}

/**
 * Writes the tar's files below `root`. The worker made the tar, so anything but regular files is a platform error. A stream for each entry,
 * or waiting for each write to the in-memory folder, would take most of the time.
 * @param {AsyncIterable<Buffer>} stream
 * @param {string} root
 */
export async function unpack(stream, root) {
  const bytes = readCounted(stream);
  const made = new Set();
  try {
    for (let entry = await nextEntry(bytes); entry; entry = await nextEntry(bytes)) {
      const path = join(root, checkPath(entry.name));
      const folder = dirname(path);
      if (!made.has(folder)) mkdirSync(folder, { recursive: true });
      made.add(folder);
      writeFileSync(path, entry.content, { flag: 'wx' });
    }
  } finally {
    for await (const _ of stream); // The next part of the input follows.
  }
}

/**
 * The next file of a tar in POSIX format, whose extended headers contain only a path; undefined at its end.
 * @param {ReturnType<typeof readCounted>} bytes
 * @returns {Promise<{ name: string, content: Buffer } | undefined>}
 */
async function nextEntry(bytes, longName = '') {
  const header = await bytes(512);
  if (header[0] === 0) return undefined;
  /** @type {(from: number, to: number) => string} */
  const field = (from, to) => header.toString('utf8', from, to).split('\0', 1)[0] ?? '';
  const size = Number.parseInt(field(124, 136), 8);
  if (field(257, 263) !== 'ustar' || !(size >= 0)) throw new Error('The input is not a tar.');
  const name = longName || [field(345, 500), field(0, 100)].filter(Boolean).join('/');
  const content = await bytes(size);
  await bytes(-size & 511);
  const type = field(156, 157);
  if (type === 'x') return await nextEntry(bytes, content.toString('utf8', content.indexOf('=') + 1, size - 1));
  if (type !== '0') throw new Error(`The source contains ${name}, which is not a regular file.`);
  return { name, content };
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
