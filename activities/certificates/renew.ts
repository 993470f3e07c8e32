/** Brings one certificate on: gets one where none stands or it is due, asks when it is due, writes down when to look again. */

import { Certificate } from '#db/certificates/certificate.ts';
import {
  certificateOf,
  dueAt,
  type Held,
  holdCertificate,
  keepCertificate,
  noOrder,
  noProblem,
  releaseCertificate,
  sslOf,
  waitAfterLooks,
  waitAfterRefusals,
} from '#db/certificates/transitions.ts';
import { AcmeRefused, AcmeUnreachable } from '#providers/acme/refusal.ts';
import type { ProblemOf } from '#rules/states.ts';
import { dayMs } from '#rules/time.ts';
import { forgetAccount, openSession } from './account.ts';
import { takeDownCalmly } from './challenge.ts';
import { type CertificateDeps, holdingOn, NotYet, type Wanted, type Work } from './context.ts';
import { authorityAway, ourFault, whoMends, wordsOf } from './messages.ts';
import { obtain } from './order.ts';

/** What stands now, and when this is to be called again (RFC 3339). */
export type Renewed = { status: string; renewAt: string };

/** Another worker is at it; it will be over, or found dead, soon. */
export class Busy extends Error {}

const allWell = { looks: 0, ...noProblem, nextTryAt: null } as const;

/** Throws Busy, LeaseLost, and what is wrong with the database; all else is written down and tried again later. */
export async function bringOn(deps: CertificateDeps, wanted: Wanted, beat: () => void): Promise<Renewed> {
  const { em, clock } = deps;
  const known = await certificateOf(em(), clock.now(), wanted);
  if (dueAt(known, clock.now()) > clock.now()) return renewed(known, clock.now());
  const { id } = known;
  const held = await holdCertificate(em(), clock.now(), id);
  if (!held) throw new Busy(`certificate ${id} is being worked on`);
  try {
    await holdingOn(deps, held, beat, () => workOn(deps, wanted, held));
  } finally {
    await releaseCertificate(em(), held);
  }
  return renewed(await em().findOneOrFail(Certificate, { id }), clock.now());
}

function renewed(certificate: Certificate, now: Date): Renewed {
  return { status: sslOf(certificate, now).status, renewAt: dueAt(certificate, now).toISOString() };
}

async function workOn(deps: CertificateDeps, wanted: Wanted, held: Held): Promise<void> {
  const { em, clock } = deps;
  const keep = (what: Partial<Certificate>) => keepCertificate(em(), clock.now(), held, what);
  // Read again now that nobody else changes it.
  const certificate = await em().findOneOrFail(Certificate, { id: held.id });
  try {
    if (dueAt(certificate, clock.now()) > clock.now()) return;
    if (!(await isWanted(deps, certificate, keep))) return;
    const work: Work = { deps, wanted, certificate, keep, session: await openSession(deps) };
    await obtain(work).catch((error) => afterFailure(work, error));
  } catch (error) {
    await noteFailure({ deps, wanted, certificate, keep }, error);
  }
}

/** Whether a new one is to be got now. Where one stands and is not due, the authority is asked when it will be. */
async function isWanted(
  { authority, clock }: CertificateDeps,
  certificate: Certificate,
  keep: Work['keep'],
): Promise<boolean> {
  const { chain, renewAt, orderOpenedAt } = certificate;
  const now = clock.now();
  if (!chain || !renewAt || orderOpenedAt || renewAt <= now) return true;
  const said = await authority.renewalOf(chain).catch((error: unknown) => {
    if (error instanceof AcmeRefused) return undefined;
    throw error;
  });
  if (!said) {
    await keep({ askAt: new Date(now.getTime() + 7 * dayMs), ...allWell });
    return false;
  }
  const { from, to, askAgainMs } = said;
  const isWithin = renewAt >= from && renewAt <= to;
  // Any moment of the window, so that not all certificates of one day are renewed at once (RFC 9773 section 4.2).
  const at = isWithin ? renewAt : new Date(from.getTime() + Math.random() * (to.getTime() - from.getTime()));
  await keep({ renewAt: at, askAt: new Date(now.getTime() + askAgainMs), ...allWell });
  return at <= now;
}

/** Takes down what was put up for an order that is over, and lets the failure be noted. */
async function afterFailure(work: Work, error: unknown): Promise<never> {
  if (error instanceof AcmeRefused && isOver(error)) {
    await work.keep(noOrder);
    await takeDownCalmly(work);
  }
  throw error;
}

/** A refusal for being too many leaves the order as it is; all others end it. */
const isOver = ({ kind }: AcmeRefused) => kind !== 'limit';

/** Writes down what stands in the way, and when to try again. */
async function noteFailure({ deps, wanted, certificate, keep }: Omit<Work, 'session'>, error: unknown): Promise<void> {
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
    keep({ ...told(problem, of), looks, nextTryAt: after(Math.max(atLeastMs, waitAfterLooks(looks, Math.random()))) });
  if (error instanceof AcmeRefused) {
    log.warn({ certificateId: id, name, refused: error.kind }, 'the certificate authority refuses');
    if (error.kind === 'account') await forgetAccount(deps);
    // The authority forgot what it had: nothing was refused.
    if (error.kind === 'account' || error.kind === 'order') return await soon(wordsOf(error.kind), 'platform');
    const refusals = certificate.refusals + 1;
    const waitMs = Math.max(error.retryAfterMs ?? 0, waitAfterRefusals(refusals, Math.random()));
    const problem = told(wordsOf(error.kind), whoMends(error.kind, wanted.way.kind));
    return await keep({ status: 'failed', ...problem, refusals, looks: 0, nextTryAt: after(waitMs) });
  }
  if (error instanceof NotYet) return await soon(error.problem, error.of);
  if (error instanceof AcmeUnreachable) {
    log.warn({ certificateId: id, name, reason: error.message }, 'the certificate authority does not answer');
    return await soon(authorityAway, 'platform', error.retryAfterMs);
  }
  log.error({ err: error, certificateId: id, name }, 'a certificate could not be got');
  await soon(ourFault, 'platform');
}
