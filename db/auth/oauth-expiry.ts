/** Grants of connectors: which still live, and their end. */

import type { EntityManager } from '#db/orm.ts';
import { OauthCode, OauthRefresh } from './oauth-grant.ts';

/** Codes are kept for longer than they are good, so that one that comes back is known. */
const codesKeptMs = 24 * 3600_000;

/** Ids of the account's tokens that a connector can still renew, whether or not they are good at this moment. */
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

/** Forgets codes and refresh tokens that are over; grants go with their tokens. Answers how many rows went. */
export async function sweepOauth(em: EntityManager, now: Date): Promise<number> {
  const codes = await em.nativeDelete(OauthCode, { expiresAt: { $lt: new Date(now.getTime() - codesKeptMs) } });
  return codes + (await em.nativeDelete(OauthRefresh, { expiresAt: { $lt: now } }));
}
