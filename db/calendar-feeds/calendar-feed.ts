import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';
import type { EntityManager } from '#db/orm.ts';
import { Site } from '#db/sites/site.ts';

/** Anyone with its secret can read the bookings of one site, while `account`, which created it, has access. */
export const CalendarFeed = defineEntity({
  name: 'CalendarFeed',
  properties: {
    id: p.text().primary(),
    site: () => p.manyToOne(Site),
    account: () => p.manyToOne(Account),
    hash: p.blob(),
    createdAt: p.datetime(),
    /** Null where its creator's access has no end. */
    expiresAt: p.datetime().nullable(),
    endedAt: p.datetime().nullable(),
    /** The token that made it, with which it ends; null where a person made it. */
    madeBy: p.text().nullable(),
  },
});
export type CalendarFeed = InferEntity<typeof CalendarFeed>;

/** Those that can be read now. */
export const openFeeds = (now: Date) => ({
  endedAt: null,
  $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }],
});

/** Ends the account's feeds of a site. Call it in the transaction that removes the account's access. */
export async function revokeFeedsOf(
  tx: EntityManager,
  { siteId, accountId, now }: { siteId: string; accountId: string; now: Date },
): Promise<number> {
  return await tx.nativeUpdate(CalendarFeed, { site: siteId, account: accountId, endedAt: null }, { endedAt: now });
}
