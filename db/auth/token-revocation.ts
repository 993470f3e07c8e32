/** The end of a token, and of everything that works without its holder and was made with it. */

import { textArray } from '#db/arrays.ts';
import { UploadLink } from '#db/assets/upload-link.ts';
import { CalendarFeed } from '#db/calendar-feeds/calendar-feed.ts';
import type { EntityManager } from '#db/orm.ts';
import { PayoutOnboarding } from '#db/payouts/payout-onboarding.ts';
import { ReviewLink } from '#db/review-links/review-link.ts';
import { BrowserSession } from './browser-session.ts';
import { GitCredential } from './git-credential.ts';
import { OauthCode } from './oauth-grant.ts';
import { Token } from './token.ts';

/** Whether the token is this one or was made by it, directly or through others. */
export async function isOrMade(em: EntityManager, maker: string, id: string): Promise<boolean> {
  return (await tokensMadeBy(em, maker)).includes(id);
}

/**
 * Revokes the token and the tokens made with it, deletes their git credentials and links to onboardings, and ends their
 * upload links, review links and calendar feeds. Call it in a transaction.
 */
export async function revokeWithAllMade(tx: EntityManager, id: string, now: Date): Promise<void> {
  // A call that makes something holds a share of its token's row (`lockMaker`), so it is counted or refused.
  let ids: string[] = [];
  for (let made = await tokensMadeBy(tx, id); made.length > ids.length; made = await tokensMadeBy(tx, id)) {
    ids = made;
    await tx.execute('update token set revoked_at = ? where id = any(?) and revoked_at is null', [now, textArray(ids)]);
  }
  const madeBy = { madeBy: { $in: ids } };
  await tx.nativeDelete(GitCredential, madeBy);
  await tx.nativeDelete(PayoutOnboarding, madeBy);
  await tx.nativeUpdate(UploadLink, { ...madeBy, endedAt: null }, { endedAt: now });
  await tx.nativeUpdate(ReviewLink, { ...madeBy, endedAt: null }, { endedAt: now });
  await tx.nativeUpdate(CalendarFeed, { ...madeBy, endedAt: null }, { endedAt: now });
}

/**
 * Ends all access to the account: its tokens with everything made with them, its git credentials and sessions, and what
 * could still become a token. Call it in a transaction that holds the account's lock for update.
 */
export async function revokeAllAccess(tx: EntityManager, accountId: string, now: Date): Promise<void> {
  await tx.nativeDelete(BrowserSession, { account: accountId });
  await tx.nativeDelete(OauthCode, { account: accountId, usedAt: null });
  await tx.execute(
    `update access_request set status = 'expired' where status = 'approved' and email = (select email from account where id = ?)`,
    [accountId],
  );
  await revokeTokensOf(tx, accountId, now);
  await tx.nativeDelete(GitCredential, { account: accountId });
  await tx.execute(
    'delete from payout_onboarding where payout_account_id in (select id from payout_account where account_id = ?)',
    [accountId],
  );
  await tx.nativeUpdate(UploadLink, { account: accountId, endedAt: null }, { endedAt: now });
  await tx.nativeUpdate(ReviewLink, { account: accountId, endedAt: null }, { endedAt: now });
  await tx.nativeUpdate(CalendarFeed, { account: accountId, endedAt: null }, { endedAt: now });
}

/** Revokes all tokens of the account, with everything made with them. Call it in a transaction. */
export async function revokeTokensOf(tx: EntityManager, accountId: string, now: Date): Promise<void> {
  const next = () => tx.findOne(Token, { account: accountId, revokedAt: null }, { disableIdentityMap: true });
  for (let token = await next(); token; token = await next()) await revokeWithAllMade(tx, token.id, now);
}

/** A token, and how often it had been rotated when its holder called. */
type Maker = { tokenId: string; rotations?: number };

/** Locks the token until the transaction ends, so that it is neither revoked nor rotated meanwhile. False if it was. */
export async function lockMaker(tx: EntityManager, { tokenId, rotations }: Maker): Promise<boolean> {
  const rows = await tx.execute<unknown[]>(
    'select 1 from token where id = ? and revoked_at is null and rotations = coalesce(?, rotations) for share',
    [tokenId, rotations ?? null],
  );
  return rows.length > 0;
}

async function tokensMadeBy(em: EntityManager, id: string): Promise<string[]> {
  const rows = await em.execute<{ id: string }[]>(
    `with recursive made as (
       select id from token where id = ? union select token.id from token join made on token.made_by = made.id
     ) select id from made`,
    [id],
  );
  return rows.map((row) => row.id);
}
