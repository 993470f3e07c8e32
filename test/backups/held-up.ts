/** Processes that are paused at a chosen moment of their work in a backup repository. */
import type { BackupRepository } from '#operator/backups/repository.ts';

/** A promise and what settles it, for a process that is held up. */
export function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  return {
    pass: async () => {
      reached.resolve();
      await promise;
    },
    reached: reached.promise,
    open: resolve,
  };
}

export const heldBeforeFlush = (place: BackupRepository, pass: () => Promise<void>): BackupRepository => ({
  ...place,
  store: {
    ...place.store,
    async flush() {
      await pass();
      await place.store.flush();
    },
  },
});

/** Where a backup may be held up for long. */
export const moments: Record<string, (place: BackupRepository, pass: () => Promise<void>) => BackupRepository> = {
  'before it has copied all': (place, pass) => ({
    ...place,
    store: {
      ...place.store,
      async sizes(hashes) {
        await pass();
        return await place.store.sizes(hashes);
      },
    },
  }),
  'just before it has its name': (place, pass) => ({
    ...place,
    async write(name, sha256) {
      await pass();
      await place.write(name, sha256);
    },
  }),
};
