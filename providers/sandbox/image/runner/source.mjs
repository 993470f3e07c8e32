/** Puts a tar of the platform's into a folder. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { extract } from 'tar-stream';

/** What the owner of the site can mend; its message is written for them. */
export class SiteFailure extends Error {
  constructor(message, { outOfMemory = false } = {}) {
    super(message);
    this.outOfMemory = outOfMemory;
  }
}

/** Writes the tar's files below `root`. The platform made the tar: anything but plain files is a fault of ours. */
export async function unpack(stream, root) {
  const entries = extract();
  const fed = pipeline(stream, entries);
  fed.catch(() => {}); // The loop below meets the same error.
  const made = new Set();
  // A folder in memory takes a file at once: waiting for each would be most of the time.
  const make = (folder) => made.has(folder) || (made.add(folder) && mkdirSync(folder, { recursive: true }));
  for await (const entry of entries) {
    const { name, type } = entry.header;
    const path = join(root, checkPath(name));
    if (type === 'directory') make(path);
    else if (type === 'file' || type === 'contiguous-file') {
      make(dirname(path));
      writeFileSync(path, await contentOf(entry), { flag: 'wx' });
      continue;
    } else throw new Error(`The source holds ${name}, a ${type}.`);
    entry.resume();
  }
  await fed;
}

async function contentOf(entry) {
  const chunks = [];
  for await (const chunk of entry) chunks.push(chunk);
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
}

function checkPath(name) {
  const parts = name.replace(/\/$/, '').split('/');
  const plain = parts.every((part) => part !== '' && part !== '.' && part !== '..');
  if (!plain || name.includes('\0')) throw new Error(`The source holds the path ${JSON.stringify(name)}.`);
  if (parts[0] === 'node_modules') {
    throw new SiteFailure(
      'The source holds a folder node_modules. Remove it from git; the platform brings the packages.',
    );
  }
  return parts.join('/');
}
