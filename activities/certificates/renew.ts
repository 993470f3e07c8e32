/** Brings one certificate on: gets one where none stands or it is due, asks when it is due, writes down when to look again. */

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

/** What stands now, and when this is to be called again (RFC 3339). */
export type Renewed = { status: string; renewAt: string };

/** Another worker is at it; it will be over, or found dead, soon. */
export class Busy extends Error {}

const healthy = { looks: 0, ...noProblem, nextTryAt: null } as const;

/** Throws Busy, LeaseLost, and what is wrong with the database; all else is written down and tried again later. */
export async function renewIfDue(
  deps: CertificateDeps,
  wanted: CertificateRequest,
  beat: () => void,
): Promise<Renewed> {
  const { em, clock } = deps;
  const known = await ensureCertificate(em(), clock.now(), wanted);
  if (dueAt(known, clock.now()) > clock.now()) return renewalStatus(known, clock.now());
  const { id } = known;
  const held = await acquireLease(em(), clock.now(), id);
  if (!held) throw new Busy(`certificate ${id} is being worked on`);
  try {
    await withLease(deps, held, beat, () => renewUnderLease(deps, wanted, held));
  } finally {
    await releaseLease(em(), held);
  }
  return renewalStatus(await em().findOneOrFail(Certificate, { id }), clock.now());
}

function renewalStatus(certificate: Certificate, now: Date): Renewed {
  return { status: sslOf(certificate, now).status, renewAt: dueAt(certificate, now).toISOString() };
}

async function renewUnderLease(deps: CertificateDeps, wanted: CertificateRequest, held: Lease): Promise<void> {
  const { em, clock } = deps;
  const keep = (what: Partial<Certificate>) => updateLeased(em(), clock.now(), held, what);
  // Read again now that nobody else changes it.
  const certificate = await em().findOneOrFail(Certificate, { id: held.id });
  try {
    if (dueAt(certificate, clock.now()) > clock.now()) return;
    if (!(await isRenewalDue(deps, certificate, keep))) return;
    const work: RenewalContext = { deps, request: wanted, certificate, save: keep, session: await openSession(deps) };
    await issue(work).catch((error) => closeFailedOrder(work, error));
  } catch (error) {
    await recordFailure({ deps, request: wanted, certificate, save: keep }, error);
  }
}

/** Whether a new one is to be got now. Where one stands and is not due, the authority is asked when it will be. */
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

/** Takes down what was put up for an order that is over, and lets the failure be noted. */
async function closeFailedOrder(work: RenewalContext, error: unknown): Promise<never> {
  if (error instanceof AcmeRefused && endsOrder(error)) {
    await work.save(noOrder);
    await cleanUpChallenges(work);
  }
  throw error;
}

/** A refusal for being too many leaves the order as it is; all others end it. */
const endsOrder = ({ kind }: AcmeRefused) => kind !== 'limit';

/** Writes down what stands in the way, and when to try again. */
async function recordFailure(
  { deps, request: wanted, certificate, save: keep }: Omit<RenewalContext, 'session'>,
  error: unknown,
): Promise<void> {
  const { clock, log } = deps;
  const { id, name } = certificate;
  const after = (ms: number) => new Date(clock.now().getTime() + ms);
  const looks = certificate.looks + 1;
  const told = (problem: string, problemOf: ProblemOf) => ({
    problem,
    problemOf,
    problemSince: certificate.problem === problem ? (certificate.problemSince ?? clock.now()) : clock.now(),
  });
  const soon = (problem: string, of: ProblemOf, atLeastMs = 0) =>
    keep({
      ...told(problem, of),
      looks,
      nextTryAt: after(Math.max(atLeastMs, waitAfterPreflights(looks, Math.random()))),
    });
  if (error instanceof AcmeRefused) {
    log.warn({ certificateId: id, name, refused: error.kind }, 'the certificate authority refuses');
    if (error.kind === 'account') await forgetAccount(deps);
    // The authority forgot what it had: nothing was refused.
    if (error.kind === 'account' || error.kind === 'order') return await soon(messageOf(error.kind), 'platform');
    const refusals = certificate.refusals + 1;
    const waitMs = Math.max(error.retryAfterMs ?? 0, waitAfterRefusals(refusals, Math.random()));
    const problem = told(messageOf(error.kind), responsibleParty(error.kind, wanted.validation.kind));
    return await keep({ status: 'failed', ...problem, refusals, looks: 0, nextTryAt: after(waitMs) });
  }
  if (error instanceof NotReady) return await soon(error.problem, error.of);
  if (error instanceof AcmeUnreachable) {
    log.warn({ certificateId: id, name, reason: error.message }, 'the certificate authority does not answer');
    return await soon(authorityUnreachable, 'platform', error.retryAfterMs);
  }
  log.error({ err: error, certificateId: id, name }, 'a certificate could not be got');
  await soon(internalFault, 'platform');
}
