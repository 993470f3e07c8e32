/** Solved challenges, each of which is accepted once. */
import type { EntityManager } from './orm.ts';

/** Marks a challenge as used in the transaction of what was sent. Returns false where it was used before. */
export async function useChallenge(tx: EntityManager, once: Buffer, expiresAt: Date): Promise<boolean> {
  const rows = await tx.execute<unknown[]>(
    'insert into used_challenge (hash, expires_at) values (?, ?) on conflict do nothing returning expires_at',
    [once, expiresAt],
  );
  return rows.length === 1;
}

/** Deletes expired challenges. Returns how many. */
export async function sweepChallenges(em: EntityManager, now: Date): Promise<number> {
  return (await em.execute<unknown[]>('delete from used_challenge where expires_at <= ? returning 1', [now])).length;
}
