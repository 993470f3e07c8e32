import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';
import { Site } from '#db/sites/site.ts';
import type { DnsObservation } from '#rules/dns/observation.ts';
import type { DomainMode, DomainStatus, RecordType } from '#rules/states.ts';

/**
 * A domain that an owner registered elsewhere and added here. The account owns it once `provedAt` is set; several
 * accounts may try to prove the same name. Its site is served there unless the status is `Deleted` or `Blocked`.
 */
export const Domain = defineEntity({
  name: 'Domain',
  properties: {
    id: p.text().primary(),
    account: () => p.manyToOne(Account),
    /** ASCII, lower case, without the trailing dot. */
    name: p.text(),
    /** The registrable name: one label below the public suffix. */
    registrable: p.text(),
    mode: p.text().$type<DomainMode>(),
    status: p.text().$type<DomainStatus>(),
    statusSince: p.datetime(),
    /**
     * The value of the TXT record that proves this onboarding, and the first label of the pair of name servers that
     * does.
     */
    proof: p.text(),
    pair: p.text(),
    provedAt: p.datetime().nullable(),
    site: () => p.manyToOne(Site).nullable(),
    isPrimary: p.boolean().default(false),
    attachedAt: p.datetime().nullable(),
    /** When its site was last detached. */
    detachedAt: p.datetime().nullable(),
    blockReason: p.text().nullable(),
    /** The last observation of the DNS. */
    sight: p.json().$type<DnsObservation>().nullable(),
    /** Checks since the status began, except those that calls requested: the position on the retry curve. */
    checks: p.integer().default(0),
    checkedAt: p.datetime().nullable(),
    /** When a call last requested a check. */
    askedAt: p.datetime().nullable(),
    /** Null where no check is due: blocked, or removed. */
    nextCheckAt: p.datetime().nullable(),
    elsewhereSince: p.datetime().nullable(),
    elsewhereChecks: p.integer().default(0),
    absentSince: p.datetime().nullable(),
    absentChecks: p.integer().default(0),
    /** Since when the proof has been missing, and in how many checks in a row. */
    unprovedSince: p.datetime().nullable(),
    unprovedChecks: p.integer().default(0),
    /** When the account was last to be e-mailed that it is live, that its DNS is wrong, and that its proof is missing. */
    liveMailedAt: p.datetime().nullable(),
    troubleMailedAt: p.datetime().nullable(),
    proofMailedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    removedAt: p.datetime().nullable(),
  },
});
export type Domain = InferEntity<typeof Domain>;

/** A record that the owner set in a zone that we host. Our own records are derived, not stored. */
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

/** The last owner of a removed name, until an account proves it again. */
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
