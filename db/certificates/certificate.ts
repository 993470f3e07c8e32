import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { CertificateStatus, ProblemOf } from '#rules/states.ts';

/**
 * The certificate of a domain, or of a name of the platform. `chain` (PEM) is served with its encrypted key until it
 * is replaced; `status` is that of the current order. Between `orderOpenedAt` and the end of an order, no second one
 * is created.
 */
export const Certificate = defineEntity({
  name: 'Certificate',
  properties: {
    id: p.text().primary(),
    /** Null for a name of the platform. */
    domainId: p.text().nullable().unique(),
    /** A host, or a wildcard (`*.sites.test`), which also covers the host above it. */
    name: p.text(),
    status: p.text().$type<CertificateStatus>(),
    /** Why there is no valid certificate, as text for the owner. */
    problem: p.text().nullable(),
    problemOf: p.text().$type<ProblemOf>().nullable(),
    problemSince: p.datetime().nullable(),
    chain: p.text().nullable(),
    sealedKey: p.blob().nullable(),
    notBefore: p.datetime().nullable(),
    notAfter: p.datetime().nullable(),
    renewAt: p.datetime().nullable(),
    /** When the CA is next queried for its renewal information. */
    askAt: p.datetime().nullable(),
    /** Since when a valid certificate has been served without a gap. */
    healthySince: p.datetime().nullable(),
    /** Consecutive refusals by the CA, and consecutive failed preflight checks. */
    refusals: p.integer().default(0),
    looks: p.integer().default(0),
    nextTryAt: p.datetime().nullable(),
    /** Encrypted; the key of the certificate being ordered. */
    orderKey: p.blob().nullable(),
    orderOpenedAt: p.datetime().nullable(),
    orderUrl: p.text().nullable(),
    /** The worker's lease, and when it expires. */
    lease: p.text().nullable(),
    leasedUntil: p.datetime().nullable(),
    createdAt: p.datetime(),
  },
});
export type Certificate = InferEntity<typeof Certificate>;

/** Our account with the CA of this directory. */
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
