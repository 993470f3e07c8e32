/** Takes what comes in on stdin: a line that says what is asked, then the site's source. */
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { extract } from 'tar-stream';

const headerBytesMax = 4_096;

/** What the owner of the site can mend; its message is written for them. */
export class SiteFailure extends Error {
  constructor(message, { outOfMemory = false } = {}) {
    super(message);
    this.outOfMemory = outOfMemory;
  }
}

/** Reads the first line as JSON and leaves the rest of the stream to its next reader. */
export async function readHeader(stream) {
  let held = Buffer.alloc(0);
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    held = Buffer.concat([held, chunk]);
    const end = held.indexOf(10);
    if (end < 0 && held.length < headerBytesMax) continue;
    if (end < 0) break;
    if (end + 1 < held.length) stream.unshift(held.subarray(end + 1));
    return JSON.parse(held.subarray(0, end).toString());
  }
  throw new Error('The order on stdin is not a line of JSON.');
}

/** Writes the tar's files below `root`. The platform made the tar: anything but plain files is a fault of ours. */
export async function unpack(stream, root) {
  const entries = extract();
  const fed = pipeline(stream, entries);
  fed.catch(() => {}); // The loop below meets the same error.
  for await (const entry of entries) {
    const { name, type } = entry.header;
    const path = checkPath(name);
    if (type === 'directory') await mkdir(join(root, path), { recursive: true });
    else if (type === 'file' || type === 'contiguous-file') {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await pipeline(entry, createWriteStream(join(root, path), { flags: 'wx' }));
      continue;
    } else throw new Error(`The source holds ${name}, a ${type}.`);
    entry.resume();
  }
  await fed;
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
