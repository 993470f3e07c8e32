/** Why there is no certificate yet, told to the owner in our own words. */

import type { RefusalKind } from '#providers/acme/refusal.ts';
import type { ProblemOf } from '#rules/states.ts';
import type { Way } from './context.ts';

const again = 'It is tried again by itself.';

const words: Record<RefusalKind, string> = {
  dns: `The certificate authority could not read this domain in the DNS. ${again}`,
  caa: 'A CAA record of this domain does not allow our certificate authority. Remove it, or allow the authority in it.',
  unreachable: `The certificate authority could not reach this domain. ${again}`,
  elsewhere: `Seen by the certificate authority, this domain leads to another server than ours. ${again}`,
  name: 'The certificate authority gives no certificates for this name.',
  limit: `The certificate authority gives no more certificates for the moment. ${again}`,
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
export const ourFault = `Something of ours did not work while the certificate was got. ${again}`;
