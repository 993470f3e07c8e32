/** The DNS records that an owner has to set, and what the DNS returns. Pure. */
import { isIPv6 } from 'node:net';
import type { Domain } from '#db/domains/domain.ts';
import { type ExpectedRecords, evaluate, expectedRecords } from '#rules/dns/evaluation.ts';
import { foundIn, proofName } from '#rules/dns/observation.ts';
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
