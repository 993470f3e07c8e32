/** Why there is no certificate yet, told to the owner in our own words. */

import type { RefusalKind } from '#providers/acme/refusal.ts';
import type { ProblemOf } from '#rules/states.ts';
import type { Way } from './context.ts';

const again = 'The platform retries automatically.';

const words: Record<RefusalKind, string> = {
  dns: `The certificate authority could not resolve this domain. ${again}`,
  caa: 'A CAA record of this domain does not allow our certificate authority. Remove it, or allow the authority in it.',
  unreachable: `The certificate authority could not reach this domain. ${again}`,
  elsewhere: `The certificate authority reached another server at this domain. ${again}`,
  name: 'The certificate authority does not issue certificates for this name.',
  limit: `The certificate authority limits new certificates at the moment. ${again}`,
  account: again,
  order: again,
  nonce: again,
  other: `The certificate authority did not issue a certificate. ${again}`,
};

export const wordsOf = (kind: RefusalKind): string => words[kind];

/** Whose it is to mend: what a zone of ours answers, or where it leads, is not the owner's. */
export function whoMends(kind: RefusalKind, way: Way['kind']): ProblemOf {
  if (kind === 'caa' || kind === 'name') return 'owner';
  const isOfHost = kind === 'dns' || kind === 'unreachable' || kind === 'elsewhere';
  return isOfHost && way === 'http-01' ? 'owner' : 'platform';
}

export const authorityAway = `The certificate authority cannot be reached at the moment. ${again}`;
export const ourFault = `The platform failed while requesting the certificate. ${again}`;
