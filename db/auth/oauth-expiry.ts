/** OAuth grants: which can still be renewed, and the deletion of expired codes. */

import type { EntityManager } from '#db/orm.ts';
import { dayMs, minuteMs } from '#rules/time.ts';
import { OauthCode, OauthRefresh } from './oauth-grant.ts';

/** For this long after its use, a refresh token returns the same successor. */
export const repeatsMs = minuteMs;
/** Codes are stored for longer than they are valid, so that reuse is detected. */
const codesKeptMs = dayMs;

/** Ids of the account's tokens that an OAuth client can still renew, including expired ones. */
export async function renewableTokenIds(em: EntityManager, accountId: string, now: Date): Promise<string[]> {
  const rows = await em.execute<{ id: string }[]>(
    `select t.id from token t
       join oauth_grant g on g.token_id = t.id
       join oauth_refresh r on r.grant_id = g.id and r.used_at is null and r.expires_at > ?
      where t.account_id = ? and t.revoked_at is null`,
    [now, accountId],
  );
  return rows.map(({ id }) => id);
}

/**
 * Deletes expired codes and refresh tokens, and successors that are not returned any more; grants are deleted with
 * their tokens. Returns the number of rows.
 */
export async function sweepOauth(em: EntityManager, now: Date): Promise<number> {
  const before = new Date(now.getTime() - repeatsMs);
  await em.nativeUpdate(OauthRefresh, { usedAt: { $lt: before }, successor: { $ne: null } }, { successor: null });
  const codes = await em.nativeDelete(OauthCode, { expiresAt: { $lt: new Date(now.getTime() - codesKeptMs) } });
  return codes + (await em.nativeDelete(OauthRefresh, { expiresAt: { $lt: now } }));
}
