/**
 * The moves of a certificate. Who works on one holds its lease, and each write asks whether that is still so: a worker that was thought dead
 * changes nothing any more. An order stands here before the authority has it, so that a killed worker's is gone on with, not ordered again.
 */
import { X509Certificate } from 'node:crypto';
import type { EntityManager } from '#db/orm.ts';
import type { CertificateStatus, ProblemOf } from '#rules/states.ts';
import { newId } from '#runtime/ids.ts';
import { Certificate } from './certificate.ts';

/** A killed worker's work waits for this long. */
export const leaseMs = 15_000;

/** Somebody else works on it. */
export class LeaseLost extends Error {}

export type Subject = { domainId: string | null; name: string };
export type Lease = { id: string; lease: string };

/**
 * The row of this subject, made where there is none. What the authority refused of the name lately counts on: it does not forget because an
 * owner has removed the domain and brought it again.
 */
export async function ensureCertificate(
  em: EntityManager,
  now: Date,
  { domainId, name }: Subject,
): Promise<Certificate> {
  const where = domainId === null ? { domainId, name } : { domainId };
  const known = await em.findOne(Certificate, where, { refresh: true });
  if (known) return known;
  await em.execute(
    `insert into certificate (id, domain_id, name, status, created_at, refusals, next_try_at)
     select ?, ?, ?, 'pending', ?, coalesce(max(refusals), 0), max(next_try_at)
     from certificate where name = ? and refusals > 0 and next_try_at > ? on conflict do nothing`,
    [newId('cert'), domainId, name, now, name, now],
  );
  return await em.findOneOrFail(Certificate, where, { refresh: true });
}

/** Takes the certificate to work on it; undefined while somebody else does. */
export async function acquireLease(em: EntityManager, now: Date, id: string): Promise<Lease | undefined> {
  const lease = newId('lease');
  const leasedUntil = new Date(now.getTime() + leaseMs);
  const free = { id, $or: [{ lease: null }, { leasedUntil: { $lt: now } }] };
  return (await em.nativeUpdate(Certificate, free, { lease, leasedUntil })) === 1 ? { id, lease } : undefined;
}

/** Writes, and holds on for another while. Throws LeaseLost. */
export async function updateLeased(
  em: EntityManager,
  now: Date,
  { id, lease }: Lease,
  what: Partial<Certificate> = {},
): Promise<void> {
  const leasedUntil = new Date(now.getTime() + leaseMs);
  const kept = await em.nativeUpdate(Certificate, { id, lease }, { ...what, leasedUntil });
  if (kept !== 1) throw new LeaseLost(`certificate ${id} is another worker's`);
}

export async function releaseLease(em: EntityManager, { id, lease }: Lease): Promise<void> {
  await em.nativeUpdate(Certificate, { id, lease }, { lease: null, leasedUntil: null });
}

export const noOrder = { orderKey: null, orderOpenedAt: null, orderUrl: null } as const;

export const noProblem = { problem: null, problemOf: null, problemSince: null } as const;

/** When the certificate is next to be worked on. */
export function dueAt(certificate: Certificate, now: Date): Date {
  const { chain, renewAt, askAt, nextTryAt, orderOpenedAt } = certificate;
  if (nextTryAt && nextTryAt > now) return nextTryAt;
  if (!chain || orderOpenedAt || !renewAt) return now;
  return askAt && askAt < renewAt ? askAt : renewAt;
}

const restMs = 12 * 3600_000;

/**
 * From when on a certificate is renewed that nobody wants earlier: two thirds of its life, and a little by chance, so that not all are at
 * once. Never at once, whatever our clock and the authority's disagree about: each new one would be due again.
 */
export function renewalTime(
  { notBefore, notAfter }: { notBefore: Date; notAfter: Date },
  chance: number,
  now: Date,
): Date {
  const lifeMs = notAfter.getTime() - notBefore.getTime();
  const soonestMs = now.getTime() + Math.min(restMs, (notAfter.getTime() - now.getTime()) / 2);
  return new Date(Math.max(soonestMs, notBefore.getTime() + lifeMs * (2 / 3 + chance / 20)));
}

/** Three refusals in any hour at most, where authorities allow a host five: what somebody else asks of them counts as well. */
const afterRefusalsMs = [15_000, 60_000, 3600_000, 3600_000, 2 * 3600_000, 4 * 3600_000, 8 * 3600_000];
const longestMs = 24 * 3600_000;

/** How long to wait after this many refusals in a row. `chance` is between 0 and 1. */
export function waitAfterRefusals(refusals: number, chance: number): number {
  return Math.round((afterRefusalsMs[refusals - 1] ?? longestMs) * (1 + chance / 10));
}

/** How long to wait after this many looks of our own in a row that found something missing. They ask nothing of the authority. */
export function waitAfterPreflights(looks: number, chance: number): number {
  return Math.round(Math.min(2_000 * 1.5 ** (looks - 1), 15 * 60_000) * (1 + chance / 10));
}

/** What is kept of a chain (PEM). Throws where it is not for these names, or not of this key's. */
export function readChain(chain: string, names: string[], publicKey: string): { notBefore: Date; notAfter: Date } {
  const certificate = new X509Certificate(chain);
  const isOfKey = certificate.publicKey.export({ type: 'spki', format: 'pem' }) === publicKey;
  const covered = (certificate.subjectAltName ?? '').split(', ');
  if (!isOfKey || !names.every((name) => covered.includes(`DNS:${name}`)))
    throw new Error('the certificate is not the one that was ordered');
  return { notBefore: certificate.validFromDate, notAfter: certificate.validToDate };
}

export type Ssl = {
  status: CertificateStatus | 'expired';
  expiresAt: Date | null;
  /** What stops it, in words for the owner, whoever is to mend it, and since when. */
  problem: string | null;
  problemOf: ProblemOf | null;
  problemSince: Date | null;
  /** Since when visitors have had one without a gap. */
  healthySince: Date | null;
};

export const sslFields = ['status', 'notAfter', 'problem', 'problemOf', 'problemSince', 'healthySince'] as const;

/** How a certificate is told of. One that is served stays `active` while its successor is got. */
export function sslOf(certificate: Pick<Certificate, (typeof sslFields)[number]> | undefined, now: Date): Ssl {
  if (!certificate) return { status: 'pending', expiresAt: null, ...noProblem, healthySince: null };
  const { notAfter, status, problem = null, problemOf = null, problemSince = null, healthySince = null } = certificate;
  const rest = { problem, problemOf, problemSince, healthySince };
  if (!notAfter) return { status, expiresAt: null, ...rest };
  return { status: notAfter > now ? 'active' : 'expired', expiresAt: notAfter, ...rest };
}

/** Tokens and what stands there, for edges to answer. */
export async function storeTokens(
  em: EntityManager,
  id: string,
  tokens: { token: string; answer: string }[],
): Promise<void> {
  for (const { token, answer } of tokens)
    await em.execute(
      'insert into acme_token (token, certificate_id, answer) values (?, ?, ?) on conflict (token) do update set answer = excluded.answer',
      [token, id, answer],
    );
}

export async function removeTokens(em: EntityManager, id: string): Promise<void> {
  await em.execute('delete from acme_token where certificate_id = ?', [id]);
}

const ticketKeysKeptMs = 24 * 3600_000;

/** Deletes keys of TLS tickets (`edge/http/ticket-keys.ts`) whose period is over for every edge, whatever its clock. */
export async function sweepTicketKeys(em: EntityManager, now: Date): Promise<number> {
  const before = new Date(now.getTime() - ticketKeysKeptMs);
  const gone = await em.execute('delete from ticket_key where period < ? returning 1', [before]);
  return gone.length;
}

/** Nothing is kept of what a removed domain had, but an empty row: by its change edges that were away learn to show it no more. */
export async function clearCertificate(em: EntityManager, domainId: string): Promise<void> {
  await em.transactional(async (tx) => {
    await tx.execute(
      'delete from acme_token where certificate_id in (select id from certificate where domain_id = ?)',
      [domainId],
    );
    const nothing = { chain: null, sealedKey: null, notBefore: null, notAfter: null, renewAt: null, askAt: null };
    const state = { status: 'pending', healthySince: null, lease: null, leasedUntil: null } as const;
    await tx.nativeUpdate(Certificate, { domainId }, { ...nothing, ...state, ...noOrder, ...noProblem });
  });
}
