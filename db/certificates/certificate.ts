import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { CertificateStatus, ProblemOf } from '#rules/states.ts';

/**
 * The certificate of a domain, or of our own names. `chain` (PEM) stands beside its sealed key and is served until a newer one takes its
 * place; `status` is of the one that is being got. Between `orderOpenedAt` and the end of an order, no second one is opened.
 */
export const Certificate = defineEntity({
  name: 'Certificate',
  properties: {
    id: p.text().primary(),
    /** Null for a name of ours. */
    domainId: p.text().nullable().unique(),
    /** What a handshake finds it by: a host, or a wildcard (`*.sites.test`), which stands for the host above it too. */
    name: p.text(),
    status: p.text().$type<CertificateStatus>(),
    /** What stops it, in our words. */
    problem: p.text().nullable(),
    problemOf: p.text().$type<ProblemOf>().nullable(),
    problemSince: p.datetime().nullable(),
    chain: p.text().nullable(),
    sealedKey: p.blob().nullable(),
    notBefore: p.datetime().nullable(),
    notAfter: p.datetime().nullable(),
    renewAt: p.datetime().nullable(),
    /** When the authority is to be asked whether it wants it renewed at another time. */
    askAt: p.datetime().nullable(),
    /** Since when visitors have had one without a gap. */
    healthySince: p.datetime().nullable(),
    /** The authority's refusals in a row, and our own looks that found something missing. */
    refusals: p.integer().default(0),
    looks: p.integer().default(0),
    nextTryAt: p.datetime().nullable(),
    /** Sealed; the key of the certificate that is ordered. */
    orderKey: p.blob().nullable(),
    orderOpenedAt: p.datetime().nullable(),
    orderUrl: p.text().nullable(),
    /** Who works on it, and until when others keep off. */
    lease: p.text().nullable(),
    leasedUntil: p.datetime().nullable(),
    createdAt: p.datetime(),
  },
});
export type Certificate = InferEntity<typeof Certificate>;

/** Our account with the authority of this directory. */
export const AcmeAccount = defineEntity({
  name: 'AcmeAccount',
  properties: {
    directory: p.text().primary(),
    sealedKey: p.blob(),
    url: p.text().nullable(),
    createdAt: p.datetime(),
  },
});
export type AcmeAccount = InferEntity<typeof AcmeAccount>;
