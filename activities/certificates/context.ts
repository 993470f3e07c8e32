/** One worker at one certificate at a time: what it needs, and how it holds on while it works. */

import type { Certificate } from '#db/certificates/certificate.ts';
import { type Lease, updateLeased } from '#db/certificates/transitions.ts';
import type { AcmeSession, Authority } from '#providers/acme.ts';
import type { ProblemOf } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';

export type CertificateDeps = Pick<Deps, 'clock' | 'config' | 'dns' | 'em' | 'log' | 'zones'> & {
  authority: Authority;
  /** How long what we put up is waited for until it is seen. */
  visibleWithinMs?: number;
};

/** In which way names are proved: by records in a zone of ours, or by pages over HTTP. */
export type ValidationMethod = { kind: 'dns-01'; zone: string } | { kind: 'http-01' };

/** A certificate to get: for which names, and how they are proved. */
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
  /** Writes to the row, if it is still this worker's. */
  save(what: Partial<Certificate>): Promise<void>;
};

/** Something is not there yet; nothing was asked of the authority that it counts. */
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

/** Says for as long as `act` takes that it is being done: to the row, so that no other worker begins, and to the engine. */
export async function withLease<T>(
  { em, clock, log }: Pick<CertificateDeps, 'em' | 'clock' | 'log'>,
  held: Lease,
  beat: () => void,
  act: () => Promise<T>,
): Promise<T> {
  const timer = setInterval(() => {
    beat();
    updateLeased(em(), clock.now(), held).catch((err) =>
      log.warn({ err, certificateId: held.id }, 'a certificate is held no more'),
    );
  }, leaseRenewalMs);
  try {
    return await act();
  } finally {
    clearInterval(timer);
  }
}
