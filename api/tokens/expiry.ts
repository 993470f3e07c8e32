/** What a token makes ends with it: by revocation, and by time. */
import type { Actor } from '#api/access.ts';
import { unauthorized } from '#api/plugins/bearer.ts';
import { lockSession } from '#db/auth/browser-session.ts';
import { lockMaker } from '#db/auth/token-revocation.ts';
import type { EntityManager } from '#db/orm.ts';
import { errors } from '#runtime/errors.ts';

/** Until when the caller has access; null without end. An OAuth client's access lasts while it can be renewed. */
async function endOfAccess(em: EntityManager, { tokenId }: Actor): Promise<Date | null> {
  const [row] = await em.execute<{ expires_at: string | Date | null }[]>(
    `select greatest(t.expires_at, r.expires_at) as expires_at from token t
       left join oauth_grant g on g.token_id = t.id
       left join oauth_refresh r on r.grant_id = g.id and r.used_at is null
      where t.id = ? and t.expires_at is not null`,
    [tokenId],
  );
  return row?.expires_at ? new Date(row.expires_at) : null;
}

/** The expiry of something that the caller makes: `wanted`, else the end of the caller's own access. Throws `invalid_expiry`. */
export async function expiryWithin(em: EntityManager, actor: Actor, wanted: Date | undefined): Promise<Date | null> {
  const end = await endOfAccess(em, actor);
  if (!wanted || !end || wanted <= end) return wanted ?? end;
  throw errors.invalid_expiry(
    `This would outlive the token that you are using, which expires at ${end.toISOString()}.`,
    { nextAction: 'Send an earlier expiry, or omit it. For a later one, use a token that lasts longer.' },
  );
}

/** Like `expiryWithin`, for a lifetime in seconds. Without one it is `usual`, or shorter if the caller's access ends earlier. */
export async function lifetimeWithin(
  em: EntityManager,
  now: Date,
  actor: Actor,
  { seconds, usual }: { seconds: number | undefined; usual: number },
): Promise<Date> {
  const after = (length: number) => new Date(now.getTime() + length * 1000);
  const expiresAt = await expiryWithin(em, actor, seconds === undefined ? undefined : after(seconds));
  const most = after(seconds ?? usual);
  return expiresAt && expiresAt < most ? expiresAt : most;
}

/**
 * Runs `make` in a transaction in which the caller's token is neither revoked nor rotated, and their browser not signed
 * out. Throws `unauthorized` if it was.
 */
export async function madeWith<Made>(
  em: EntityManager,
  actor: Actor,
  make: (tx: EntityManager) => Promise<Made> | Made,
): Promise<Made> {
  return await em.transactional(async (tx) => {
    if (!(await lockCaller(tx, actor))) throw unauthorized();
    return await make(tx);
  });
}

const lockCaller = (tx: EntityManager, actor: Actor): Promise<boolean> =>
  actor.isSession ? lockSession(tx, actor.tokenId) : lockMaker(tx, actor);
