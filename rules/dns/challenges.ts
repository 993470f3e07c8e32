/** Names in a hosted zone that the CA, or our preflight check before it, queries. Pure. */
import { challengePrefix, isWithin } from './names.ts';

/** The name that the CA queries: the same for a host and the wildcard below it. */
export const challengeName = (name: string): string => challengePrefix + name.replace(/^\*\./, '');

/**
 * A name for the preflight check that was never queried before, so no resolver has cached it. It is no longer than a
 * challenge's name.
 */
export const preflightName = (zone: string, digits: string): string => `_look-${digits}.${zone}`;
export const preflightDigits = 9;

const look = new RegExp(`^_look-[0-9a-f]{${preflightDigits}}$`);

export function isPreflight(name: string, zone: string): boolean {
  return isWithin(name, zone) && look.test(name.slice(0, -zone.length - 1));
}

/** Names for certificates: owners cannot write them, and no rows contain them. */
export function isChallengeName(name: string, zone: string): boolean {
  return name === challengeName(zone) || isPreflight(name, zone);
}
