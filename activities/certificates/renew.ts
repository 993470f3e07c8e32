/** Renews one certificate: issues it if it is missing or due, updates its renewal time, and saves when to check again. */

import { Certificate } from '#db/certificates/certificate.ts';
import {
  acquireLease,
  dueAt,
  ensureCertificate,
  type Lease,
  noOrder,
  noProblem,
  releaseLease,
  sslOf,
  updateLeased,
  waitAfterPreflights,
  waitAfterRefusals,
} from '#db/certificates/transitions.ts';
import { AcmeRefused, AcmeUnreachable } from '#providers/acme/refusal.ts';
import type { ProblemOf } from '#rules/states.ts';
import { dayMs } from '#rules/time.ts';
import { forgetAccount, openSession } from './account.ts';
import { cleanUpChallenges } from './challenge.ts';
import { type CertificateDeps, type CertificateRequest, NotReady, type RenewalContext, withLease } from './context.ts';
import { authorityUnreachable, internalFault, messageOf, responsibleParty } from './messages.ts';
import { issue } from './order.ts';

/** The current status, and when to call again (RFC 3339). */
export type Renewed = { status: string; renewAt: string };

/** Another worker has the lease; it will finish, or its lease will expire, soon. */
export class Busy extends Error {}

const healthy = { looks: 0, ...noProblem, nextTryAt: null } as const;

/** Throws Busy, LeaseLost and database errors. Other failures are saved in the row and retried later. */
export async function renewIfDue(
  deps: CertificateDeps,
  wanted: CertificateRequest,
  heartbeat: () => void,
): Promise<Renewed> {
  const { em, clock } = deps;
  const known = await ensureCertificate(em(), clock.now(), wanted);
  if (dueAt(known, clock.now()) > clock.now()) return renewalStatus(known, clock.now());
  const { id } = known;
  const lease = await acquireLease(em(), clock.now(), id);
  if (!lease) throw new Busy(`another process is renewing certificate ${id}`);
  try {
    await withLease(deps, lease, heartbeat, () => renewUnderLease(deps, wanted, lease));
  } finally {
    await releaseLease(em(), lease);
  }
  return renewalStatus(await em().findOneOrFail(Certificate, { id }), clock.now());
}

function renewalStatus(certificate: Certificate, now: Date): Renewed {
  return { status: sslOf(certificate, now).status, renewAt: dueAt(certificate, now).toISOString() };
}

async function renewUnderLease(deps: CertificateDeps, wanted: CertificateRequest, lease: Lease): Promise<void> {
  const { em, clock } = deps;
  const keep = (what: Partial<Certificate>) => updateLeased(em(), clock.now(), lease, what);
  // Read again under the lease.
  const certificate = await em().findOneOrFail(Certificate, { id: lease.id });
  try {
    if (dueAt(certificate, clock.now()) > clock.now()) return;
    if (!(await isRenewalDue(deps, certificate, keep))) return;
    const work: RenewalContext = { deps, request: wanted, certificate, save: keep, session: await openSession(deps) };
    await issue(work).catch((error) => closeFailedOrder(work, error));
  } catch (error) {
    await recordFailure({ deps, request: wanted, certificate, save: keep }, error);
  }
}

/** Whether to issue now. If the current certificate is not due, asks the authority for its renewal information. */
async function isRenewalDue(
  { authority, clock }: CertificateDeps,
  certificate: Certificate,
  keep: RenewalContext['save'],
): Promise<boolean> {
  const { chain, renewAt, orderOpenedAt } = certificate;
  const now = clock.now();
  if (!chain || !renewAt || orderOpenedAt || renewAt <= now) return true;
  const said = await authority.renewalOf(chain).catch((error: unknown) => {
    if (error instanceof AcmeRefused) return undefined;
    throw error;
  });
  if (!said) {
    await keep({ askAt: new Date(now.getTime() + 7 * dayMs), ...healthy });
    return false;
  }
  const { from, to, askAgainMs } = said;
  const isWithin = renewAt >= from && renewAt <= to;
  // Any moment of the window, so that not all certificates of one day are renewed at once (RFC 9773 section 4.2).
  const at = isWithin ? renewAt : new Date(from.getTime() + Math.random() * (to.getTime() - from.getTime()));
  await keep({ renewAt: at, askAt: new Date(now.getTime() + askAgainMs), ...healthy });
  return at <= now;
}

/** Removes the challenges of an order that has ended, and rethrows the failure. */
async function closeFailedOrder(work: RenewalContext, error: unknown): Promise<never> {
  if (error instanceof AcmeRefused && endsOrder(error)) {
    await work.save(noOrder);
    await cleanUpChallenges(work);
  }
  throw error;
}

/** A rate limit leaves the order open; every other refusal ends it. */
const endsOrder = ({ kind }: AcmeRefused) => kind !== 'limit';

/** Saves the problem, and when to retry. */
async function recordFailure(
  { deps, request: wanted, certificate, save: keep }: Omit<RenewalContext, 'session'>,
  error: unknown,
): Promise<void> {
  const { clock, log } = deps;
  const { id, name } = certificate;
  const after = (ms: number) => new Date(clock.now().getTime() + ms);
  const looks = certificate.looks + 1;
  const problemColumns = (problem: string, problemOf: ProblemOf) => ({
    problem,
    problemOf,
    problemSince: certificate.problem === problem ? (certificate.problemSince ?? clock.now()) : clock.now(),
  });
  const soon = (problem: string, of: ProblemOf, atLeastMs = 0) =>
    keep({
      ...problemColumns(problem, of),
      looks,
      nextTryAt: after(Math.max(atLeastMs, waitAfterPreflights(looks, Math.random()))),
    });
  if (error instanceof AcmeRefused) {
    log.warn(
      { certificateId: id, name, refused: error.kind },
      'the certificate authority refused to issue a certificate',
    );
    if (error.kind === 'account') await forgetAccount(deps);
    // The authority lost the account or order: nothing was refused.
    if (error.kind === 'account' || error.kind === 'order') return await soon(messageOf(error.kind), 'platform');
    const refusals = certificate.refusals + 1;
    const waitMs = Math.max(error.retryAfterMs ?? 0, waitAfterRefusals(refusals, Math.random()));
    const problem = problemColumns(messageOf(error.kind), responsibleParty(error.kind, wanted.validation.kind));
    return await keep({ status: 'failed', ...problem, refusals, looks: 0, nextTryAt: after(waitMs) });
  }
  if (error instanceof NotReady) return await soon(error.problem, error.of);
  if (error instanceof AcmeUnreachable) {
    log.warn({ certificateId: id, name, reason: error.message }, 'the certificate authority is not responding');
    return await soon(authorityUnreachable, 'platform', error.retryAfterMs);
  }
  log.error({ err: error, certificateId: id, name }, 'a certificate could not be issued');
  await soon(internalFault, 'platform');
}
