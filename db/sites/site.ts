import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';
import { subscriptionsSql } from '#db/accounts/subscription-sql.ts';
import type { SiteStatus } from '#rules/states.ts';

/**
 * A website. `liveDeploymentId` is the pointer that visitors follow; it moves only together with `liveTicket`, which only grows
 * (`lastTicket` is the last one given out). `lastNumber` numbers the deployments.
 */
export const Site = defineEntity({
  name: 'Site',
  properties: {
    id: p.text().primary(),
    account: () => p.manyToOne(Account),
    name: p.text().unique(),
    title: p.text(),
    template: p.text(),
    status: p.text().$type<SiteStatus>(),
    publicId: p.text().unique(),
    liveDeploymentId: p.text().nullable(),
    liveTicket: p.integer().default(0),
    lastTicket: p.integer().default(0),
    lastNumber: p.integer().default(0),
    /** The redirect rules that a call set, a blob in the store. */
    redirectsSha256: p.text().nullable(),
    createdAt: p.datetime(),
    archivedAt: p.datetime().nullable(),
    /** Since when a person has stopped it, and why, in words for its owner. */
    blockedAt: p.datetime().nullable(),
    blockReason: p.text().nullable(),
    /** Since when a person has stopped its owner's account. The database keeps it: see `account.blocked_at`. */
    ownerBlockedAt: p.datetime().nullable(),
    /** The plans of its owner, whose caps are those of the site: ask `limitsOf`. */
    subscriptions: p
      .text()
      .nullable()
      .formula((cols) => subscriptionsSql(`${cols.account}`)),
  },
});
export type Site = InferEntity<typeof Site>;
