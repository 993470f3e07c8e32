/**
 * A purge removes repositories and files for good. A backup reads rows first, and later copies what they name, so no
 * purge removes anything while one runs.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { EntityManager } from './orm.ts';
import { tryLockInTransaction } from './transaction-lock.ts';

const removalKey = 'removal of files';
const backupKey = 'backup';
const retryMs = 250;

/** Waits for the removal that runs, and prevents others until the client disconnects. */
export async function preventRemovals(client: pg.ClientBase): Promise<void> {
  await client.query('select pg_advisory_lock_shared(hashtextextended($1, 0))', [backupKey]);
}

/**
 * Runs a removal alone: between two of the same file, a publish may put it back. Waits for other removals, and throws
 * while a backup is created, which may take hours.
 */
export async function removeAlone<Result>(em: EntityManager, remove: () => Promise<Result>): Promise<Result> {
  for (;;) {
    const ended = await em.transactional(async (tx) => {
      if (!(await tryLockInTransaction(tx, removalKey))) return undefined;
      if (!(await tryLockInTransaction(tx, backupKey)))
        throw new Error('A backup is being created. The purge continues when it has ended.');
      return { result: await remove() };
    });
    if (ended) return ended.result;
    // Without a connection: the sites of one account may all be purged at once.
    await pause(retryMs);
  }
}
