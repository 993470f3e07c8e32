import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';
import { Site } from '#db/sites/site.ts';
import type { DnsObservation } from '#rules/dns/observation.ts';
import type { DomainMode, DomainStatus, RecordType } from '#rules/states.ts';

/**
 * A name that an owner registered elsewhere and brought here. It is held once `provedAt` is set; several accounts may try to prove the same
 * name. A site is served on it where `site` is set and it is neither `Deleted` nor `Blocked`.
 */
export const Domain = defineEntity({
  name: 'Domain',
  properties: {
    id: p.text().primary(),
    account: () => p.manyToOne(Account),
    /** In ASCII and lower case, without the last dot. */
    name: p.text(),
    /** The name that was registered: one label below the public suffix. */
    registrable: p.text(),
    mode: p.text().$type<DomainMode>(),
    status: p.text().$type<DomainStatus>(),
    statusSince: p.datetime(),
    /** The text of the TXT record that proves this onboarding, and the first label of the pair of name servers that does. */
    proof: p.text(),
    pair: p.text(),
    provedAt: p.datetime().nullable(),
    site: () => p.manyToOne(Site).nullable(),
    isPrimary: p.boolean().default(false),
    attachedAt: p.datetime().nullable(),
    /** When its site was last taken from it. */
    detachedAt: p.datetime().nullable(),
    blockReason: p.text().nullable(),
    /** What the DNS said at the last look. */
    sight: p.json().$type<DnsObservation>().nullable(),
    /** Looks since the status began, but those that calls asked for: its place on the curve of retries. */
    checks: p.integer().default(0),
    checkedAt: p.datetime().nullable(),
    /** When a call last asked for a look. */
    askedAt: p.datetime().nullable(),
    /** Null where no look is due: blocked, or removed. */
    nextCheckAt: p.datetime().nullable(),
    elsewhereSince: p.datetime().nullable(),
    elsewhereChecks: p.integer().default(0),
    absentSince: p.datetime().nullable(),
    absentChecks: p.integer().default(0),
    createdAt: p.datetime(),
    removedAt: p.datetime().nullable(),
  },
});
export type Domain = InferEntity<typeof Domain>;

/** A record that the owner set in a zone of ours; our own are made, not kept. */
export const DomainRecord = defineEntity({
  name: 'DomainRecord',
  properties: {
    id: p.text().primary(),
    domain: () => p.manyToOne(Domain),
    type: p.text().$type<RecordType>(),
    name: p.text(),
    content: p.text(),
    ttl: p.integer(),
    priority: p.integer().nullable(),
    createdAt: p.datetime(),
  },
});
export type DomainRecord = InferEntity<typeof DomainRecord>;

/** That a name was held here, until somebody proves it anew. */
export const DomainTombstone = defineEntity({
  name: 'DomainTombstone',
  properties: {
    name: p.text().primary(),
    account: () => p.manyToOne(Account),
    mode: p.text().$type<DomainMode>(),
    removedAt: p.datetime(),
  },
});
export type DomainTombstone = InferEntity<typeof DomainTombstone>;
