/** Deletion of old tokens, and of what owners allowed them once. */

import type { EntityManager } from '#db/orm.ts';
import { dayMs } from '#rules/time.ts';

const keptMs = 30 * dayMs;

/**
 * Deletes tokens that were revoked or expired long ago, except those that an access request references. Returns how
 * many.
 */
export async function sweepTokens(em: EntityManager, now: Date): Promise<number> {
  const before = new Date(now.getTime() - keptMs);
  const gone = await em.execute<unknown[]>(
    `delete from token t where (revoked_at < ? or expires_at < ?)
       and not exists (select 1 from access_request a where a.token_id = t.id) returning id`,
    [before, before],
  );
  return gone.length;
}

/** Deletes what owners allowed once and can no longer be used. Returns how many. */
export async function sweepScopeAllowances(em: EntityManager, now: Date): Promise<number> {
  const gone = await em.execute<unknown[]>('delete from scope_allowance where expires_at < ? returning token_id', [
    now,
  ]);
  return gone.length;
}
