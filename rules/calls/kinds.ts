/** The kinds of things that a path names by id. */

export type Kind = { prefix: string; noun: string };

/** By the segment of a path before the id. */
const kinds: Readonly<Record<string, Kind>> = {
  bookings: { prefix: 'book', noun: 'booking' },
  'calendar-feeds': { prefix: 'feed', noun: 'calendar feed' },
  checks: { prefix: 'check', noun: 'check' },
  collaborators: { prefix: 'acct', noun: 'account' },
  comments: { prefix: 'thread', noun: 'comment thread' },
  comparisons: { prefix: 'cmp', noun: 'comparison' },
  deployments: { prefix: 'dep', noun: 'deployment' },
  domains: { prefix: 'dom', noun: 'domain' },
  forms: { prefix: 'form', noun: 'form' },
  'git-credentials': { prefix: 'cred', noun: 'git credential' },
  invitations: { prefix: 'inv', noun: 'invitation' },
  payments: { prefix: 'pay', noun: 'payment' },
  'payout-accounts': { prefix: 'pout', noun: 'payout account' },
  'payout-offers': { prefix: 'offer', noun: 'payout offer' },
  records: { prefix: 'rec', noun: 'DNS record' },
  requests: { prefix: 'areq', noun: 'access request' },
  'review-links': { prefix: 'rev', noun: 'review link' },
  sites: { prefix: 'site', noun: 'site' },
  sketches: { prefix: 'sketch', noun: 'sketch' },
  submissions: { prefix: 'sub', noun: 'form submission' },
  tokens: { prefix: 'tok', noun: 'token' },
  uploads: { prefix: 'upl', noun: 'upload link' },
};

/** The kind that a parameter of the path (`/v1/sites/{id}`) takes; undefined if it takes no id. */
export function kindOf(path: string, parameter: string): Kind | undefined {
  const segments = path.split('/');
  return kinds[segments[segments.indexOf(`{${parameter}}`) - 1] ?? ''];
}

/** The kind of a field of a body or query, `site_id`. */
export const kindOfField = (name: string): Kind | undefined =>
  Object.values(kinds).find(({ noun }) => name === `${noun.replaceAll(' ', '_')}_id`);

/**
 * What an id of the wrong kind is, from its prefix alone. Undefined if it has the right one, or one of no kind.
 * `site_01h… is the id of a site; this takes a deployment (dep_…).`
 */
export function wrongKind(id: string, wanted: Kind): string | undefined {
  const found = Object.values(kinds).find(({ prefix }) => id.startsWith(`${prefix}_`));
  if (!found || found.prefix === wanted.prefix) return undefined;
  const shown = /^[a-z]+_[0-9a-z]{1,26}$/.test(id) ? id : `${found.prefix}_…`;
  return `${shown} is the id of a${startsWithVowel(found.noun)} ${found.noun}; this takes a${startsWithVowel(wanted.noun)} ${wanted.noun} (${wanted.prefix}_…).`;
}

const startsWithVowel = (noun: string): string => (/^[aeiou]/.test(noun) ? 'n' : '');
