/** Opens the store that the configuration selects. */
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { createDiskStore } from './disk.ts';
import { createCachedStore } from './disk-cache.ts';
import type { NamedBytes, Store } from './store.ts';

type Settings = Pick<Config, 'storeDir' | 's3' | 'dataDir'>;

export function createStore({ storeDir, s3, dataDir }: Settings): Store {
  if (!s3) {
    if (storeDir === undefined) throw new Error('a store requires a folder or a bucket');
    return createDiskStore(storeDir);
  }
  // The S3 client takes 30 MiB and a tenth of a second to load, so only installations with a bucket load it.
  const opening = import('./s3.ts').then(({ createS3Store: openS3Store }) =>
    openS3Store(s3, { spoolDir: join(dataDir, 'spool') }),
  );
  opening.catch(() => {}); // its first user gets the error
  return openLater(opening);
}

/** The store of an edge: a bucket's blobs are cached on this machine. */
export function openEdgeStore(
  config: Settings & Pick<Config, 'edge'>,
  { clock, log, processes }: { clock: Clock; log: Logger; processes: number },
): Store {
  const store = createStore(config);
  if (!config.s3) return store;
  const dir = join(config.dataDir, 'edge', 'blobs');
  return createCachedStore(store, { dir, bytesMax: config.edge.diskBytes, processes, clock, log });
}

function openLater(opening: Promise<Store>): Store {
  const named = (kind: 'scratch' | 'caches'): NamedBytes => ({
    put: async (name, content) => {
      mindErrors(content);
      await (await opening)[kind].put(name, content);
    },
    read: async (name) => (await opening)[kind].read(name),
    remove: async (name) => (await opening)[kind].remove(name),
  });
  return {
    async put(content, options) {
      if (!Buffer.isBuffer(content)) mindErrors(content);
      return (await opening).put(content, options);
    },
    read: async (...asked) => (await opening).read(...asked),
    readAll: async (...asked) => (await opening).readAll(...asked),
    sizes: async (hashes) => (await opening).sizes(hashes),
    async *list() {
      yield* (await opening).list();
    },
    flush: async (hashes) => (await opening).flush(hashes),
    remove: async (hashes) => (await opening).remove(hashes),
    async *audit() {
      yield* (await opening).audit();
    },
    scratch: named('scratch'),
    caches: named('caches'),
    sweep: async () => (await opening).sweep(),
  };
}

/** A stream that fails before it is read would end the process. Its reader gets the error anyway. */
function mindErrors(content: Readable): void {
  content.on('error', () => {});
}
