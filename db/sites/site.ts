import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';
import { subscriptionsSql } from '#db/accounts/account-sql.ts';
import type { PageColors } from '#rules/page-colors.ts';
import type { SiteStatus } from '#rules/states.ts';

/**
 * A website. `liveDeploymentId` is the deployment that is served; it changes only together with `liveTicket`, which
 * only grows. `lastTicket` is the last assigned ticket, `lastNumber` the last assigned number of a deployment.
 */
export const Site = defineEntity({
  name: 'Site',
  properties: {
    id: p.text().primary(),
    account: () => p.manyToOne(Account),
    name: p.text().unique(),
    title: p.text(),
    /** The owner's colours on the platform's pages of the site; null for the usual ones. */
    colors: p.json().$type<PageColors>().nullable(),
    /** Empty if the site was created without one. */
    template: p.text(),
    status: p.text().$type<SiteStatus>(),
    publicId: p.text().unique(),
    liveDeploymentId: p.text().nullable(),
    liveTicket: p.integer().default(0),
    lastTicket: p.integer().default(0),
    lastNumber: p.integer().default(0),
    /** The redirect rules set by the API, a blob in the store. */
    redirectsSha256: p.text().nullable(),
    /** The build caches of a lower epoch are not used. */
    cacheEpoch: p.integer().default(0),
    createdAt: p.datetime(),
    archivedAt: p.datetime().nullable(),
    /** When its purge begins; set from the owner's call until the purge has ended. */
    deleteAt: p.datetime().nullable(),
    /** When its purge began. From then on the row is only the subject of payments and bookings. */
    purgedAt: p.datetime().nullable(),
    /** Whether restoring the account restores it too. */
    deletedWithAccount: p.boolean().default(false),
    /** When an operator blocked the site, and the reason, which its owner can read. */
    blockedAt: p.datetime().nullable(),
    blockReason: p.text().nullable(),
    /** When its owner's account was blocked. A trigger on `account.blocked_at` sets it. */
    ownerBlockedAt: p.datetime().nullable(),
    /** The owner's plans, for `limitsOf`: their limits apply to the site. */
    subscriptions: p
      .text()
      .nullable()
      .formula((cols) => subscriptionsSql(`${cols.account}`)),
  },
});
export type Site = InferEntity<typeof Site>;
