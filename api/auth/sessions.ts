/** The browsers in which an account is signed in. */
import type { Actor } from '#api/access.ts';
import { BrowserSession } from '#db/auth/browser-session.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Deps } from '#runtime/deps.ts';

const shownMax = 20;

/** The newest first. */
export async function sessionsOf(
  em: EntityManager,
  clock: Deps['clock'],
  { accountId }: Actor,
): Promise<{ id: string; createdAt: Date }[]> {
  const open = { account: accountId, expiresAt: { $gt: clock.now() } };
  return await em.find(BrowserSession, open, { orderBy: { createdAt: 'desc', id: 'desc' }, limit: shownMax });
}

/** Signs out every browser of the account but the caller's. */
export async function signOutOthers(em: EntityManager, { accountId, tokenId }: Actor): Promise<void> {
  await em.nativeDelete(BrowserSession, { account: accountId, id: { $ne: tokenId } });
}
