/** Messages to owners: why there is no certificate yet. */

import type { RefusalKind } from '#providers/acme/refusal.ts';
import type { ProblemOf } from '#rules/states.ts';
import type { ValidationMethod } from './context.ts';

const retryNotice = 'The platform retries automatically.';

const messages: Record<RefusalKind, string> = {
  dns: `The certificate authority could not resolve this domain. ${retryNotice}`,
  caa: 'A CAA record of this domain prevents our certificate authority from issuing certificates. Remove the record, or add one that allows it.',
  unreachable: `The certificate authority could not reach this domain. ${retryNotice}`,
  elsewhere: `The certificate authority reached a different server at this domain. ${retryNotice}`,
  name: 'The certificate authority does not issue certificates for this name.',
  limit: `The certificate authority is rate-limiting new certificates at the moment. ${retryNotice}`,
  account: retryNotice,
  order: retryNotice,
  nonce: retryNotice,
  other: `The certificate authority did not issue a certificate. ${retryNotice}`,
};

export const messageOf = (kind: RefusalKind): string => messages[kind];

/** Who can fix the problem: problems of a zone that we serve are the platform's. */
export function responsibleParty(kind: RefusalKind, way: ValidationMethod['kind']): ProblemOf {
  if (kind === 'caa' || kind === 'name') return 'owner';
  const isOfHost = kind === 'dns' || kind === 'unreachable' || kind === 'elsewhere';
  return isOfHost && way === 'http-01' ? 'owner' : 'platform';
}

export const authorityUnreachable = `The certificate authority cannot be reached at the moment. ${retryNotice}`;
export const internalFault = `The certificate could not be requested because of an internal error. ${retryNotice}`;
