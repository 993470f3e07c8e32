/** Caches of builds as tars, which the worker packed itself (`providers/sandbox/cache.ts`). */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { extract, type Pack, pack } from 'tar-stream';

/** Where the framework keeps the pictures that it has made. */
const picturesFolder = 'astro/assets/';

/** All entries of the caches, and of those with the same name the first. An unreadable one counts up to its fault. */
export function mergeCaches(caches: readonly Readable[]): Readable {
  const seen = new Set<string>();
  const isNew = (name: string) => !seen.has(name) && seen.add(name) !== undefined;
  return packed(caches, async (tar) => {
    for (const cache of caches) await copyEntries(tar, cache, isNew).catch(() => {});
  });
}

/** Only the pictures of a cache. Fails if it is unreadable. */
export function picturesOf(cache: Readable): Readable {
  return packed([cache], (tar) => copyEntries(tar, cache, (name) => name.startsWith(picturesFolder)));
}

function packed(from: readonly Readable[], fill: (tar: Pack) => Promise<void>): Readable {
  const tar = pack();
  // Without a listener, an error before the first read would end the process.
  tar.on('error', () => {});
  fill(tar).then(
    () => tar.finalize(),
    (error) => tar.destroy(error),
  );
  // A stream that is destroyed before its first read does not end its source.
  return Readable.from(tar, { objectMode: false }).once('close', () => {
    tar.destroy();
    for (const one of from) one.destroy();
  });
}

async function copyEntries(tar: Pack, from: Readable, takes: (name: string) => boolean): Promise<void> {
  const entries = extract();
  pipeline(from, entries).catch(() => {}); // The loop below gets the same error.
  for await (const entry of entries) {
    const { name } = entry.header;
    if (takes(name)) await addEntry(tar, name, await buffer(entry));
    else entry.resume();
  }
}

function addEntry(tar: Pack, name: string, content: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    tar.entry({ name, mtime: new Date(0) }, content, (error) => (error ? reject(error) : resolve()));
  });
}
