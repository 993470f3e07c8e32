/** What a look at the DNS makes of a domain. Pure: the row before, the sight, the moment; the row after. */
import type { DomainMode, DomainStatus } from '#rules/states.ts';
import { type DnsObservation, foundIn, isUnknown } from './observation.ts';
import { nextCheckMs } from './retry-curve.ts';
import { nameServersOf } from './zone.ts';

/** What proves a domain, and where it has to point. */
export type ExpectedRecords = {
  name: string;
  mode: DomainMode;
  proof: string;
  /** Its own pair of name servers. */
  nameServers: readonly string[];
  /** Addresses at which the edge answers, IPv4 and IPv6. */
  addresses: readonly string[];
};

/** Of a domain, where the platform's own names and addresses are these. */
export function expectedRecords(
  { name, mode, proof, pair }: { name: string; mode: DomainMode; proof: string; pair: string },
  { nameServers, edgeAddresses }: { nameServers: string; edgeAddresses: readonly string[] },
): ExpectedRecords {
  return { name, mode, proof, nameServers: nameServersOf({ pair }, nameServers), addresses: edgeAddresses };
}

export type Verdict = {
  isProved: boolean | undefined;
  isHere: boolean | undefined;
  /** The registered name is at its parent no more. */
  isAbsent: boolean | undefined;
};

/** `undefined` wherever it could not be asked. */
export function evaluate(wanted: ExpectedRecords, sight: DnsObservation): Verdict {
  const isAbsent = sight.registered === 'unknown' ? undefined : sight.registered === 'no';
  if (wanted.mode === 'nameservers') {
    const isProved = isUnknown(sight.delegation) ? undefined : sameNames(foundIn(sight.delegation), wanted.nameServers);
    // A zone that its parent says is signed, and is not, is there for nobody who checks.
    const isSigned = isUnknown(sight.ds) ? undefined : foundIn(sight.ds).length > 0;
    return { isProved, isHere: isProved && (isSigned === undefined ? undefined : !isSigned), isAbsent };
  }
  const isProved = isUnknown(sight.proof) ? undefined : foundIn(sight.proof).includes(wanted.proof);
  return { isProved, isHere: pointsHere(wanted, sight), isAbsent };
}

/** Delegated to this pair and to no other: whoever is asked has to be us. */
function sameNames(found: string[], wanted: readonly string[]): boolean {
  return found.every((name) => wanted.includes(name)) && wanted.every((name) => found.includes(name));
}

/** Every address is the edge's: with one that is not, a part of the visitors would be elsewhere. */
function pointsHere({ addresses }: ExpectedRecords, { a, aaaa }: DnsObservation): boolean | undefined {
  const found = [...foundIn(a), ...foundIn(aaaa)];
  if (found.some((address) => !addresses.includes(address))) return false;
  if (isUnknown(a) || isUnknown(aaaa)) return undefined;
  return found.length > 0;
}

/** The columns that a look moves. */
export type DomainState = {
  status: DomainStatus;
  statusSince: Date;
  provedAt: Date | null;
  checks: number;
  elsewhereSince: Date | null;
  elsewhereChecks: number;
  absentSince: Date | null;
  absentChecks: number;
  checkedAt: Date | null;
  nextCheckAt: Date | null;
};

/** Nothing is lost by fewer looks in a row, or within a shorter time, however often a call asks for one. */
const checksMin = 3;
const msMin = 10 * 60_000;
const movedMsMax = 7 * 24 * 3600_000;

/**
 * The row after a look. What could not be asked moves nothing but the time of the next look. One that a call `asked` for is no step on the
 * curve: the next one is when it would have been, or sooner.
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

function countChecks(before: DomainState, { isHere, isAbsent }: Verdict, now: Date): DomainState {
  const isElsewhere = isHere === false || isAbsent === true;
  const counted = { ...before };
  if (isAbsent) {
    counted.absentSince ??= now;
    counted.absentChecks += 1;
  } else if (isAbsent === false) Object.assign(counted, notAbsent);
  if (isElsewhere) {
    counted.elsewhereSince ??= now;
    counted.elsewhereChecks += 1;
  } else if (isHere) Object.assign(counted, { elsewhereSince: null, elsewhereChecks: 0 });
  return counted;
}

function transition(row: DomainState, { isProved, isHere, isAbsent }: Verdict, now: Date): Partial<DomainState> {
  if (row.status === 'pending') {
    // What is not active yet is held only while its proof stands.
    const provedAt = isProved === undefined ? row.provedAt : isProved ? (row.provedAt ?? now) : null;
    return isHere && provedAt ? { provedAt, status: 'active' } : { provedAt };
  }
  // Whoever has the name now may be somebody else: it comes back only proved anew.
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
