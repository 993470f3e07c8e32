/** The next state of a domain after an observation of the DNS. Pure. */

import { type DomainMode, type DomainStatus, isServed } from '#rules/states.ts';
import { dayMs, minuteMs } from '#rules/time.ts';
import { type DnsObservation, foundIn, isUnknown } from './observation.ts';
import { nextCheckMs } from './retry-curve.ts';
import { nameServersOf } from './zone.ts';

/** The records that prove a domain, and its targets. */
export type ExpectedRecords = {
  name: string;
  mode: DomainMode;
  proof: string;
  /** The domain's own pair of name servers. */
  nameServers: readonly string[];
  /** Addresses of the edge, IPv4 and IPv6. */
  addresses: readonly string[];
};

/** The expected records of a domain, given the platform's names and addresses. */
export function expectedRecords(
  { name, mode, proof, pair }: { name: string; mode: DomainMode; proof: string; pair: string },
  { nameServers, edgeAddresses }: { nameServers: string; edgeAddresses: readonly string[] },
): ExpectedRecords {
  return { name, mode, proof, nameServers: nameServersOf({ pair }, nameServers), addresses: edgeAddresses };
}

export type Verdict = {
  isProved: boolean | undefined;
  isHere: boolean | undefined;
  /** The registrable name is missing at its parent. */
  isAbsent: boolean | undefined;
  /** The TXT record of a `cname` domain is missing. A delegation is no such record: it says where the domain points. */
  isUnproved: boolean | undefined;
};

/** `undefined` wherever the DNS could not be queried. */
export function evaluate(wanted: ExpectedRecords, sight: DnsObservation): Verdict {
  const isAbsent = sight.registered === 'unknown' ? undefined : sight.registered === 'no';
  if (wanted.mode === 'nameservers') {
    const isProved = isUnknown(sight.delegation) ? undefined : sameNames(foundIn(sight.delegation), wanted.nameServers);
    // Validating resolvers reject a zone that has a DS record but no signatures.
    const isSigned = isUnknown(sight.ds) ? undefined : foundIn(sight.ds).length > 0;
    return {
      isProved,
      isHere: isProved && (isSigned === undefined ? undefined : !isSigned),
      isAbsent,
      isUnproved: false,
    };
  }
  const isProved = isUnknown(sight.proof) ? undefined : foundIn(sight.proof).includes(wanted.proof);
  const isUnproved = isProved === undefined ? undefined : !isProved;
  return { isProved, isHere: pointsHere(wanted, sight), isAbsent, isUnproved };
}

/** Delegated to exactly this pair: with any other server, some resolvers would not reach ours. */
function sameNames(found: string[], wanted: readonly string[]): boolean {
  return found.every((name) => wanted.includes(name)) && wanted.every((name) => found.includes(name));
}

/** Every address is one of the edge's: with any other, some visitors would reach another server. */
function pointsHere({ addresses }: ExpectedRecords, { a, aaaa }: DnsObservation): boolean | undefined {
  const found = [...foundIn(a), ...foundIn(aaaa)];
  if (found.some((address) => !addresses.includes(address))) return false;
  if (isUnknown(a) || isUnknown(aaaa)) return undefined;
  return found.length > 0;
}

/** The columns that a check changes. */
export type DomainState = {
  status: DomainStatus;
  statusSince: Date;
  provedAt: Date | null;
  checks: number;
  elsewhereSince: Date | null;
  elsewhereChecks: number;
  absentSince: Date | null;
  absentChecks: number;
  unprovedSince: Date | null;
  unprovedChecks: number;
  checkedAt: Date | null;
  nextCheckAt: Date | null;
};

/** A domain loses its state only after this many checks in a row and this time, however often calls request one. */
const checksMin = 3;
const msMin = 10 * minuteMs;
const movedMsMax = 7 * dayMs;
/** A missing proof lasts for this many checks and for this long before another account may claim the name. The account is e-mailed earlier. */
export const unproved = { checks: 3, ms: dayMs } as const;

/**
 * The state after a check. If the DNS could not be queried, only the time of the next check changes. A check that a
 * call requested (`asked`) does not advance the retry curve: the next check stays when it was due, or is earlier.
 */
export function nextState(before: DomainState, verdict: Verdict, now: Date, asked = false): DomainState {
  if (before.status === 'Blocked') return before;
  const step = asked ? 0 : 1;
  const counted = { ...countChecks(before, verdict, now), checks: before.checks + step };
  const after = { ...counted, ...transition(counted, verdict, now), checkedAt: now };
  const isMoved = after.status !== before.status;
  if (isMoved) Object.assign(after, { statusSince: now, checks: step, ...notAbsent });
  const next = new Date(now.getTime() + nextCheckMs(after, now));
  const wouldBe = asked && !isMoved ? before.nextCheckAt : null;
  return { ...after, nextCheckAt: wouldBe && wouldBe < next ? wouldBe : next };
}

const notAbsent = { absentSince: null, absentChecks: 0 } as const;

function countChecks(before: DomainState, { isHere, isAbsent, isUnproved }: Verdict, now: Date): DomainState {
  const isElsewhere = isHere === false || isAbsent === true;
  const counted = { ...before };
  if (isAbsent) {
    counted.absentSince ??= now;
    counted.absentChecks += 1;
  } else if (isAbsent === false) Object.assign(counted, notAbsent);
  if (isUnproved && isServed(before)) {
    counted.unprovedSince ??= now;
    counted.unprovedChecks += 1;
  } else if (isUnproved === false) Object.assign(counted, { unprovedSince: null, unprovedChecks: 0 });
  if (isElsewhere) {
    counted.elsewhereSince ??= now;
    counted.elsewhereChecks += 1;
  } else if (isHere) Object.assign(counted, { elsewhereSince: null, elsewhereChecks: 0 });
  return counted;
}

function transition(row: DomainState, { isProved, isHere, isAbsent }: Verdict, now: Date): Partial<DomainState> {
  if (row.status === 'pending') {
    // Before activation the account owns the name only while its proof exists.
    const provedAt = isProved === undefined ? row.provedAt : isProved ? (row.provedAt ?? now) : null;
    return isHere && provedAt ? { provedAt, status: 'active' } : { provedAt };
  }
  // The registrant may have changed, so the name has to be proved again.
  if (row.status === 'Deleted') return isHere && isProved ? { status: 'active', provedAt: now } : {};
  if (isAbsent && isLong(row.absentChecks, row.absentSince, now)) return { status: 'Deleted' };
  if (isHere) return { status: 'active' };
  if (isHere === undefined && isAbsent !== true) return {};
  if (row.status === 'Moved') {
    return now.getTime() - row.statusSince.getTime() >= movedMsMax && isHere === false ? { status: 'Deleted' } : {};
  }
  return isLong(row.elsewhereChecks, row.elsewhereSince, now) ? { status: 'Moved' } : {};
}

const isLong = (checks: number, since: Date | null, now: Date) =>
  checks >= checksMin && since !== null && now.getTime() - since.getTime() >= msMin;
