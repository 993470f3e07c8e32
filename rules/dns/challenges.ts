/** Names in a zone of ours at which an authority, or we ourselves before it, look for what shows that the zone answers. Pure. */
import { challengePrefix, isWithin } from './names.ts';

/** Where the authority looks: one name for a host and the wildcard below it. */
export const challengeName = (name: string): string => challengePrefix + name.replace(/^\*\./, '');

/** Of a look of ours: a name that nobody has asked for yet. It is no longer than a challenge's. */
export const preflightName = (zone: string, digits: string): string => `_look-${digits}.${zone}`;
export const preflightDigits = 9;

const look = new RegExp(`^_look-[0-9a-f]{${preflightDigits}}$`);

export function isPreflight(name: string, zone: string): boolean {
  return isWithin(name, zone) && look.test(name.slice(0, -zone.length - 1));
}

/** Whether certificates are got there: no owner writes to it, and no rows tell of it. */
export function isChallengeName(name: string, zone: string): boolean {
  return name === challengeName(zone) || isPreflight(name, zone);
}
