/**
 * State transitions of certificates. A worker acquires a lease, and each write checks it, so that a worker presumed
 * dead changes nothing. An order is stored before the CA has it, so that another worker continues it instead of
 * ordering again.
 */

import { X509Certificate } from 'node:crypto';
import type { EntityManager } from '#db/orm.ts';
import type { CertificateStatus, ProblemOf } from '#rules/states.ts';
import { dayMs, hourMs, minuteMs } from '#rules/time.ts';
import { newId } from '#runtime/ids.ts';
import { Certificate } from './certificate.ts';

/** How long the work of a killed worker waits. */
export const leaseMs = 15_000;

/** Another worker has the lease. */
export class LeaseLost extends Error {}

export type Subject = { domainId: string | null; name: string };
export type Lease = { id: string; lease: string };

/**
 * The certificate of this subject, created where there is none. Recent refusals of the name still count: the CA
 * remembers them when an owner removes a domain and adds it again.
 */
export async function ensureCertificate(
  em: EntityManager,
  now: Date,
  { domainId, name }: Subject,
): Promise<Certificate> {
  const where = domainId === null ? { domainId, name } : { domainId };
  const known = await em.findOne(Certificate, where, { refresh: true });
  if (known) return known;
  await em.transactional(async (tx) => {
    await lockSiteOf(tx, '?', domainId);
    await tx.execute(
      `insert into certificate (id, domain_id, name, status, created_at, refusals, next_try_at)
       select ?, ?, ?, 'pending', ?, coalesce(max(refusals), 0), max(next_try_at)
       from certificate where name = ? and refusals > 0 and next_try_at > ? on conflict do nothing`,
      [newId('cert'), domainId, name, now, name, now],
    );
  });
  return await em.findOneOrFail(Certificate, where, { refresh: true });
}

/**
 * Locks the site of a domain before its certificate is written: a trigger then updates the site, and what changes a domain locks
 * the site first and the certificate last. `domain` is an SQL expression with a parameter, `value`.
 */
async function lockSiteOf(tx: EntityManager, domain: string, value: string | null): Promise<void> {
  const site = `select site_id from domain where domain.id = ${domain}`;
  await tx.execute(`select 1 from site where id = (${site}) for no key update`, [value]);
}

/** Acquires the lease; undefined while another worker has it. */
export async function acquireLease(em: EntityManager, now: Date, id: string): Promise<Lease | undefined> {
  const lease = newId('lease');
  const leasedUntil = new Date(now.getTime() + leaseMs);
  const free = { id, $or: [{ lease: null }, { leasedUntil: { $lt: now } }] };
  return (await em.nativeUpdate(Certificate, free, { lease, leasedUntil })) === 1 ? { id, lease } : undefined;
}

/** Writes and extends the lease. Throws LeaseLost. */
export async function updateLeased(
  em: EntityManager,
  now: Date,
  { id, lease }: Lease,
  what: Partial<Certificate> = {},
): Promise<void> {
  const leasedUntil = new Date(now.getTime() + leaseMs);
  const kept = await em.transactional(async (tx) => {
    if (Object.keys(what).length > 0)
      await lockSiteOf(tx, '(select domain_id from certificate where certificate.id = ?)', id);
    return await tx.nativeUpdate(Certificate, { id, lease }, { ...what, leasedUntil });
  });
  if (kept !== 1) throw new LeaseLost(`another worker has taken over certificate ${id}`);
}

export async function releaseLease(em: EntityManager, { id, lease }: Lease): Promise<void> {
  await em.nativeUpdate(Certificate, { id, lease }, { lease: null, leasedUntil: null });
}

export const noOrder = { orderKey: null, orderOpenedAt: null, orderUrl: null } as const;

export const noProblem = { problem: null, problemOf: null, problemSince: null } as const;

/** When the certificate next needs work. */
export function dueAt(certificate: Certificate, now: Date): Date {
  const { chain, renewAt, askAt, nextTryAt, orderOpenedAt } = certificate;
  if (nextTryAt && nextTryAt > now) return nextTryAt;
  if (!chain || orderOpenedAt || !renewAt) return now;
  return askAt && askAt < renewAt ? askAt : renewAt;
}

const restMs = 12 * hourMs;

/**
 * When a certificate is renewed unless the CA suggests an earlier time: after two thirds of its life, with jitter.
 * Never immediately, even if our clock differs from the CA's: each new certificate would be due again.
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

/** At most three refusals per hour, where CAs allow five per host: other orders for the host count too. */
const afterRefusalsMs = [15_000, 60_000, hourMs, hourMs, 2 * hourMs, 4 * hourMs, 8 * hourMs];
const longestMs = dayMs;

/** How long to wait after this many consecutive refusals. `chance` is between 0 and 1. */
export function waitAfterRefusals(refusals: number, chance: number): number {
  return Math.round((afterRefusalsMs[refusals - 1] ?? longestMs) * (1 + chance / 10));
}

/** How long to wait after this many consecutive failed preflight checks, which send nothing to the CA. */
export function waitAfterPreflights(looks: number, chance: number): number {
  return Math.round(Math.min(2_000 * 1.5 ** (looks - 1), 15 * minuteMs) * (1 + chance / 10));
}

/** The validity of a chain (PEM). Throws where it does not match the names or the key. */
export function readChain(chain: string, names: string[], publicKey: string): { notBefore: Date; notAfter: Date } {
  const certificate = new X509Certificate(chain);
  const isOfKey = certificate.publicKey.export({ type: 'spki', format: 'pem' }) === publicKey;
  const covered = (certificate.subjectAltName ?? '').split(', ');
  if (!isOfKey || !names.every((name) => covered.includes(`DNS:${name}`)))
    throw new Error('the issued certificate does not match the order');
  return { notBefore: certificate.validFromDate, notAfter: certificate.validToDate };
}

export type Ssl = {
  status: CertificateStatus | 'expired';
  expiresAt: Date | null;
  /** Why there is no valid certificate, who can solve that, and since when. */
  problem: string | null;
  problemOf: ProblemOf | null;
  problemSince: Date | null;
  /** Since when a valid certificate has been served without a gap. */
  healthySince: Date | null;
};

export const sslFields = ['status', 'notAfter', 'problem', 'problemOf', 'problemSince', 'healthySince'] as const;

/** The certificate as responses show it. A served one stays `active` while it is renewed. */
export function sslOf(certificate: Pick<Certificate, (typeof sslFields)[number]> | undefined, now: Date): Ssl {
  if (!certificate) return { status: 'pending', expiresAt: null, ...noProblem, healthySince: null };
  const { notAfter, status, problem = null, problemOf = null, problemSince = null, healthySince = null } = certificate;
  const rest = { problem, problemOf, problemSince, healthySince };
  if (!notAfter) return { status, expiresAt: null, ...rest };
  return { status: notAfter > now ? 'active' : 'expired', expiresAt: notAfter, ...rest };
}

/** Responses to HTTP challenges, for edges. */
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

const ticketKeysKeptMs = dayMs;

/** Deletes keys of TLS tickets (`edge/http/ticket-keys.ts`) whose period is over for every edge, whatever its clock. */
export async function sweepTicketKeys(em: EntityManager, now: Date): Promise<number> {
  const before = new Date(now.getTime() - ticketKeysKeptMs);
  const gone = await em.execute('delete from ticket_key where period < ? returning 1', [before]);
  return gone.length;
}

/** Clears the row of a removed domain. The row remains, so that edges that were offline learn of the change. */
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
