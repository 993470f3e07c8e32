/** The context of one renewal, and the lease that lets one worker at a time work on a certificate. */

import type { Certificate } from '#db/certificates/certificate.ts';
import { type Lease, updateLeased } from '#db/certificates/transitions.ts';
import type { AcmeSession, Authority } from '#providers/acme.ts';
import type { ProblemOf } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';

export type CertificateDeps = Pick<Deps, 'clock' | 'config' | 'dns' | 'em' | 'log' | 'zones'> & {
  authority: Authority;
  /** How long to wait until a published record is visible. */
  visibleWithinMs?: number;
};

/** The challenge type: records in a zone that this platform hosts, or tokens over HTTP. */
export type ValidationMethod = { kind: 'dns-01'; zone: string } | { kind: 'http-01' };

/** A certificate to request: its names, and how they are validated. */
export type CertificateRequest = {
  domainId: string | null;
  name: string;
  names: string[];
  validation: ValidationMethod;
};

export type RenewalContext = {
  deps: CertificateDeps;
  request: CertificateRequest;
  certificate: Certificate;
  session: AcmeSession;
  /** Updates the row, if this worker still has the lease. */
  save(what: Partial<Certificate>): Promise<void>;
};

/** A precondition is missing. The authority was not asked, so no attempt counts against its limits. */
export class NotReady extends Error {
  readonly problem: string;
  readonly of: ProblemOf;
  constructor(problem: string, of: ProblemOf) {
    super(problem);
    this.problem = problem;
    this.of = of;
  }
}

const leaseRenewalMs = 3_000;

/** Renews the lease on the row and heartbeats the activity while `act` runs. */
export async function withLease<T>(
  { em, clock, log }: Pick<CertificateDeps, 'em' | 'clock' | 'log'>,
  lease: Lease,
  heartbeat: () => void,
  act: () => Promise<T>,
): Promise<T> {
  const timer = setInterval(() => {
    heartbeat();
    updateLeased(em(), clock.now(), lease).catch((err) =>
      log.warn({ err, certificateId: lease.id }, 'the lease on a certificate could not be renewed'),
    );
  }, leaseRenewalMs);
  try {
    return await act();
  } finally {
    clearInterval(timer);
  }
}
