/** The party that has to act on a domain, the action, and since when it waits. Pure. */

import type { Ssl } from '#db/certificates/transitions.ts';
import type { Domain } from '#db/domains/domain.ts';
import { call } from '#rules/calls/calls.ts';
import { displayName } from '#rules/dns/names.ts';
import { type DnsObservation, isUnknown } from '#rules/dns/observation.ts';
import { problemsOf } from '#rules/dns/problems.ts';
import { isServed } from '#rules/states.ts';
import { type Setup, setupInstructions } from './setup-instructions.ts';

export type WaitingOn = 'owner' | 'platform' | 'operator';
export type ResponsibleParty = { waitingOn: WaitingOn | null; nextAction: string | null; since: Date };
export type Advice = ResponsibleParty & {
  setup: Setup[];
  problems: string[];
  /** Whether the DNS is wrong; its certificate aside. */
  hasDnsProblem: boolean;
};

export type Facts = {
  /** The state of its certificate. */
  ssl: Ssl;
  /** Since when another account has owned the name, or one above it. */
  takenSince: Date | null;
  /** The address that live pages contain, where it is not this primary domain. */
  named: string | null;
};

export function adviceOf(domain: Domain, config: Parameters<typeof setupInstructions>[1], facts: Facts): Advice {
  const setup = setupInstructions(domain, config);
  const problems = problemsOf(domain, config.domains);
  const { cnameTarget } = config.domains;
  const acting = responsibleParty(domain, { setup, problems, cnameTarget, ...facts });
  const { problem } = facts.ssl;
  const shown = domain.status === 'active' && problem ? [...problems, problem] : problems;
  return { setup, problems: shown, hasDnsProblem: problems.length > 0, ...acting };
}

type Known = Facts & { setup: Setup[]; problems: string[]; cnameTarget: string };

function responsibleParty(domain: Domain, known: Known): ResponsibleParty {
  const { id, status, sight, statusSince } = domain;
  const name = displayName(domain.name);
  if (status === 'Blocked') {
    const nextAction = `${name} has been blocked by the operator: ${domain.blockReason} Contact the operator.`;
    return { waitingOn: 'operator', nextAction, since: statusSince };
  }
  if (known.takenSince) {
    const nextAction = `Another account has added ${name} or a parent domain. Remove that domain from the other account, or verify ${name} here after it has been removed. ${later(domain)}`;
    return { waitingOn: 'owner', nextAction, since: latest(statusSince, known.takenSince) };
  }
  if (!sight)
    return platform(
      domain,
      `The platform is about to check the DNS. Call ${call('domain.read', { id })} again in a few seconds.`,
    );
  return status === 'active' ? whenActive(domain, known) : whenAway(domain, sight, known);
}

const later = ({ id }: Domain) =>
  `Then call ${call('domain.check', { id })}, or ${call('domain.read', { id })} after the next automatic check.`;
const latest = (...times: (Date | null | undefined)[]) =>
  new Date(Math.max(...times.map((one) => one?.getTime() ?? 0)));
const platform = ({ statusSince }: Domain, nextAction: string): ResponsibleParty => ({
  waitingOn: 'platform',
  nextAction,
  since: statusSince,
});

function whenAway(domain: Domain, sight: DnsObservation, { setup, problems, cnameTarget }: Known): ResponsibleParty {
  const { id, statusSince } = domain;
  const asked = setup.filter(({ found, optional }) => !found && !optional);
  if (asked.length + problems.length > 0) {
    const words = [...gone(domain), ...problems, ...toSet(domain, asked, cnameTarget), later(domain)];
    const attach = domain.site ? [] : [`Once it is active, attach a site to it with ${attachment(id)}.`];
    return { waitingOn: 'owner', nextAction: [...words, ...attach].join(' '), since: statusSince };
  }
  if (isUnasked(sight)) {
    const words = 'The last DNS check failed.';
    return platform(domain, `${words} Call ${call('domain.read', { id })} again in a minute.`);
  }
  return platform(domain, `All records were found. Call ${call('domain.read', { id })} again in a few seconds.`);
}

/**
 * What the last check of the DNS saw is the owner's at once, before the domain is `Moved` or its certificate fails. A
 * certificate's problem is the owner's where the DNS shows it or the CA reports it; everything else is retried.
 */
function whenActive(domain: Domain, { ssl, setup, problems, named, cnameTarget }: Known): ResponsibleParty {
  const { id, site, statusSince, detachedAt, elsewhereSince, unprovedSince } = domain;
  const isRefused = ssl.status !== 'active' && ssl.problemOf === 'owner';
  const own = isRefused && ssl.problem ? [...problems, ssl.problem] : problems;
  if (own.length > 0) {
    const since = latest(statusSince, elsewhereSince, unprovedSince, isRefused ? ssl.problemSince : null);
    const words = [...own, ...toSet(domain, lostRecords(domain, setup), cnameTarget), later(domain)];
    return { waitingOn: 'owner', nextAction: words.join(' '), since };
  }
  if (ssl.status !== 'active') {
    if (ssl.problem)
      return platform(domain, `${ssl.problem} Call ${call('domain.read', { id })} again in a few minutes.`);
    return platform(
      domain,
      `The domain’s certificate is being issued. Call ${call('domain.read', { id })} again in about 10 seconds.`,
    );
  }
  if (site) return { waitingOn: null, nextAction: named && publishAgain(named, site), since: statusSince };
  const nextAction = `Attach a site to the domain with ${attachment(id)}.`;
  return { waitingOn: 'owner', nextAction, since: latest(statusSince, detachedAt, ssl.healthySince) };
}

const attachment = (id: string) => call('domain.attach', { id, site_id: 'site_…' });

/** The records of an active domain that a check has missed. A query that failed misses none. */
function lostRecords({ elsewhereSince, unprovedSince }: Domain, setup: Setup[]): Setup[] {
  return setup.filter(({ type, found, optional }) => {
    const isMissed = type === 'TXT' ? unprovedSince : elsewhereSince;
    return !found && !optional && isMissed;
  });
}

const publishAgain = (named: string, { id }: { id: string }) =>
  `The live pages still contain the address ${named}. Publish the site again with ${call('site.publish', { id })}.`;

const isUnasked = ({ delegation, proof, a, aaaa }: DnsObservation) => [delegation, proof, a, aaaa].some(isUnknown);

function gone({ name, status, statusSince }: Domain): string[] {
  const isGone = isServed({ status }) || status === 'Deleted';
  return isGone ? [`${displayName(name)} has not pointed here since ${statusSince.toISOString()}.`] : [];
}

/** Values to copy are in quotes, without a full stop. */
function toSet({ mode }: Domain, asked: Setup[], cnameTarget: string): string[] {
  if (asked.length === 0) return [];
  if (mode === 'nameservers') {
    const servers = asked.map(({ value }) => `“${value}”`).join(' and ');
    return [`The owner needs to set these name servers at the domain’s registrar: ${servers}.`];
  }
  const there = ({ type, seen }: Setup) => (seen.length > 0 && type !== 'TXT' ? ` (currently ${seen.join(', ')})` : '');
  const records = asked.map((one) => `${one.type} record “${one.name}” with the value “${one.value}”${there(one)}`);
  const addresses = new Set(asked.map(({ type }) => type).filter((type) => type === 'A' || type === 'AAAA'));
  return [
    `The owner needs to set these records at the domain’s DNS provider: ${records.join('; ')}.`,
    ...(addresses.size > 0 ? [orAlias([...addresses].join(' and '), cnameTarget)] : []),
  ];
}

/** RFC 1034, section 3.6.2: the apex of a zone has other records, so it cannot have a CNAME record. */
const orAlias = (types: string, cnameTarget: string): string =>
  `A domain without a subdomain cannot have a CNAME record: set either its ${types} records, or, where the provider offers it, an ALIAS record with the value “${cnameTarget}”.`;
