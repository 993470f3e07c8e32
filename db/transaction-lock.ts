/** Advisory locks of PostgreSQL that end with their transaction. */
import type { EntityManager } from './orm.ts';

/** Waits for the lock of this key, and holds it until the transaction ends. */
export async function lockInTransaction(tx: EntityManager, key: string): Promise<void> {
  await tx.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [key]);
}

/** Whether the lock was free; then the transaction holds it until it ends. */
export async function tryLockInTransaction(tx: EntityManager, key: string): Promise<boolean> {
  const [lock] = await tx.execute<[{ held: boolean }]>(
    'select pg_try_advisory_xact_lock(hashtextextended(?, 0)) as held',
    [key],
  );
  return lock.held;
}
