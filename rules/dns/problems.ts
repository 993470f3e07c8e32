/** What is wrong with a domain in the DNS, in words for its owner. Pure. */
import type { DomainMode, DomainStatus } from '#rules/states.ts';
import { evaluate, expectedRecords } from './evaluation.ts';
import { displayName } from './names.ts';
import { type DnsObservation, foundIn, proofName } from './observation.ts';
import { nameServersOf } from './zone.ts';

export type ObservedDomain = {
  name: string;
  registrable: string;
  mode: DomainMode;
  status: DomainStatus;
  proof: string;
  pair: string;
  sight?: DnsObservation | null | undefined;
  /** Since when checks have missed the TXT record of a served domain. */
  unprovedSince?: Date | null | undefined;
  /** Since when checks have seen the domain point elsewhere. */
  elsewhereSince?: Date | null | undefined;
};

/** The platform's own names and addresses. */
export type PlatformNames = {
  nameServers: string;
  edgeAddresses: readonly string[];
  caaNames: readonly string[];
};

/**
 * The problems besides records that were never set. A query that failed is no problem, and ends none: each lasts until a
 * check finds the DNS right. Empty where it is right.
 */
export function problemsOf(domain: ObservedDomain, ours: PlatformNames): string[] {
  const { sight } = domain;
  if (!sight) return [];
  const seen = [
    ...missingRegistration(domain, sight),
    ...invalidSignatures(domain, sight),
    ...otherServers(domain, sight, ours),
  ];
  return [
    ...seen,
    ...(seen.length === 0 ? missingTarget(domain, sight, ours) : []),
    ...missingProof(domain),
    ...refusedIssuance(domain, sight, ours),
  ];
}

function missingRegistration({ registrable }: ObservedDomain, sight: DnsObservation): string[] {
  return sight.registered === 'no'
    ? [`${displayName(registrable)} is not registered, or its registration has expired. Buy or renew it first.`]
    : [];
}

function invalidSignatures({ name, mode }: ObservedDomain, sight: DnsObservation): string[] {
  const foreign =
    mode === 'nameservers' && foundIn(sight.ds).length > 0
      ? [
          `DNSSEC is enabled for ${displayName(name)} with another provider’s keys (a DS record at its registrar). Disable DNSSEC at the registrar.`,
        ]
      : [];
  const bogus = sight.isBogus
    ? [`The DNSSEC signatures of ${displayName(name)} are invalid, so most resolvers reject its records.`]
    : [];
  return [...foreign, ...bogus];
}

function missingProof({ name, unprovedSince }: ObservedDomain): string[] {
  if (!unprovedSince) return [];
  return [
    `The TXT record ${proofName(name)} is missing. After 24 hours without it, another account can claim ${displayName(name)}. Set it again.`,
  ];
}

function otherServers(domain: ObservedDomain, sight: DnsObservation, ours: PlatformNames): string[] {
  const name = displayName(domain.name);
  if (domain.mode === 'cname') {
    const addresses = [...foundIn(sight.a), ...foundIn(sight.aaaa)].filter((one) => !ours.edgeAddresses.includes(one));
    if (addresses.length === 0) return [];
    return [
      `${name} points to other addresses: ${addresses.join(', ')}. Remove them, or disable the proxy that returns them.`,
    ];
  }
  const own = nameServersOf(domain, ours.nameServers);
  const others = foundIn(sight.delegation).filter((server) => !own.includes(server));
  if (others.length === 0) return [];
  return [
    `${name} has other name servers: ${others.join(', ')}. Remove them, so that only the two in the set-up instructions remain.`,
  ];
}

/** A domain that pointed here has no address, or no delegation, any more, or none that the last check could find. */
function missingTarget(domain: ObservedDomain, sight: DnsObservation, ours: PlatformNames): string[] {
  if (domain.status === 'pending') return [];
  const name = displayName(domain.name);
  const { isHere } = evaluate(expectedRecords(domain, ours), sight);
  if (isHere === undefined && domain.elsewhereSince)
    return [`${name} no longer pointed here when its DNS last responded.`];
  if (isHere !== false) return [];
  return [
    domain.mode === 'cname'
      ? `${name} has no address in the DNS any more.`
      : `${name} is not delegated to both of its name servers any more.`,
  ];
}

function refusedIssuance({ name }: ObservedDomain, sight: DnsObservation, { caaNames }: PlatformNames): string[] {
  if (!caaForbidsIssuance(foundIn(sight.caa), caaNames)) return [];
  return [
    `A CAA record of ${displayName(name)} prevents its certificate from being issued. Add the CAA record 0 issue "${caaNames[0]}", or remove the existing CAA records.`,
  ];
}

/** RFC 8659 section 4.2: with any `issue` record, only the named CAs may issue. */
function caaForbidsIssuance(caa: string[], names: readonly string[]): boolean {
  const issuers = caa.flatMap((text) => {
    const [, tag, ...value] = text.split(' ');
    return tag === 'issue' ? [value.join(' ').split(';')[0]?.trim().toLowerCase() ?? ''] : [];
  });
  return issuers.length > 0 && !issuers.some((issuer) => names.includes(issuer));
}
