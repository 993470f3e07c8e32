/** The DNS records that an owner has to set, and what the DNS returns. Pure. */
import { isIPv6 } from 'node:net';
import type { Domain } from '#db/domains/domain.ts';
import { type ExpectedRecords, evaluate, expectedRecords } from '#rules/dns/evaluation.ts';
import { displayName } from '#rules/dns/names.ts';
import { foundIn, proofName } from '#rules/dns/observation.ts';
import { nameServersOf } from '#rules/dns/zone.ts';
import type { Config } from '#runtime/config.ts';

export type Setup = {
  type: 'NS' | 'TXT' | 'CNAME' | 'A' | 'AAAA';
  name: string;
  value: string;
  found: boolean;
  /** Recommended; the domain works without it. */
  optional: boolean;
  seen: string[];
};

export function setupInstructions(domain: Domain, config: Pick<Config, 'domains'>): Setup[] {
  const { name, registrable, mode, sight } = domain;
  const wanted = expectedRecords(domain, config.domains);
  if (mode === 'nameservers') return nameServerRecords(wanted, sight);
  // An ALIAS or flattened record has the edge's addresses too.
  const isHere = sight !== null && sight !== undefined && evaluate(wanted, sight).isHere === true;
  const proof = proofRecord(wanted, sight);
  if (name === registrable) return [proof, ...addressRecords(wanted, sight, isHere)];
  return [proof, aliasRecord(name, config.domains.cnameTarget, sight, isHere)];
}

type Sight = Domain['sight'];

/** The values that the DNS returned; none before the first check. */
function seenIn(sight: Sight, answer: 'delegation' | 'proof' | 'cname' | 'a' | 'aaaa'): string[] {
  return sight ? foundIn(sight[answer]) : [];
}

function nameServerRecords({ name, nameServers }: ExpectedRecords, sight: Sight): Setup[] {
  const seen = seenIn(sight, 'delegation');
  return nameServers.map((value) => ({ type: 'NS', name, value, found: seen.includes(value), optional: false, seen }));
}

function proofRecord({ name, proof }: ExpectedRecords, sight: Sight): Setup {
  const seen = seenIn(sight, 'proof');
  return { type: 'TXT', name: proofName(name), value: proof, found: seen.includes(proof), optional: false, seen };
}

/** The CNAME record of a subdomain. */
function aliasRecord(name: string, target: string, sight: Sight, isHere: boolean): Setup {
  const aliases = seenIn(sight, 'cname');
  // A CNAME to our target is right even if the target cannot be resolved yet.
  const found = isHere || aliases.includes(target);
  const seen = aliases.length > 0 ? aliases : [...seenIn(sight, 'a'), ...seenIn(sight, 'aaaa')];
  return { type: 'CNAME', name, value: target, found, optional: false, seen };
}

/** The A and AAAA records of a registrable domain, which cannot have a CNAME record. */
function addressRecords({ name, addresses }: ExpectedRecords, sight: Sight, isHere: boolean): Setup[] {
  return addresses.map((value) => {
    const type = isIPv6(value) ? 'AAAA' : 'A';
    const seen = seenIn(sight, type === 'A' ? 'a' : 'aaaa');
    const found = seen.includes(value);
    // One address of the edge is enough if no other address exists.
    return { type, name, value, found, optional: isHere && !found, seen };
  });
}

/** Problems besides missing records, in words for the owner. */
export function problemsOf(domain: Domain, config: Pick<Config, 'domains'>): string[] {
  const { mode, sight } = domain;
  const [name, registrable] = [displayName(domain.name), displayName(domain.registrable)];
  if (!sight) return [];
  const problems: string[] = [];
  if (sight.registered === 'no') problems.push(`${registrable} is not registered, or its registration has expired.`);
  if (mode === 'nameservers' && foundIn(sight.ds).length > 0) {
    problems.push(
      `DNSSEC is enabled for ${name} with another provider’s keys (a DS record at its registrar). Disable DNSSEC at the registrar.`,
    );
  }
  if (sight.isBogus)
    problems.push(`The DNSSEC signatures of ${name} are invalid, so most resolvers reject its records.`);
  problems.push(...missingProof(domain));
  const elsewhere = [...foundIn(sight.a), ...foundIn(sight.aaaa)].filter(
    (address) => !config.domains.edgeAddresses.includes(address),
  );
  if (mode === 'cname' && elsewhere.length > 0) {
    problems.push(
      `${name} points to other addresses: ${elsewhere.join(', ')}. Remove them, or disable the proxy that returns them.`,
    );
  }
  if (mode === 'nameservers') {
    const own = nameServersOf(domain, config.domains.nameServers);
    const others = foundIn(sight.delegation).filter((server) => !own.includes(server));
    if (others.length > 0)
      problems.push(
        `${name} has other name servers: ${others.join(', ')}. Remove them, so that only the two in the set-up instructions remain.`,
      );
  }
  if (caaForbidsIssuance(foundIn(sight.caa), config.domains.caaNames)) {
    problems.push(
      `A CAA record of ${name} prevents its certificate from being issued. Add the CAA record 0 issue "${config.domains.caaNames[0]}", or remove the existing CAA records.`,
    );
  }
  return problems;
}

function missingProof({ name, unprovedSince }: Domain): string[] {
  if (!unprovedSince) return [];
  return [
    `The TXT record ${proofName(name)} is missing. After 24 hours without it, another account can claim ${displayName(name)}. Set it again.`,
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
