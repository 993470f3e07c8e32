/** Content negotiation of encodings (RFC 9110 section 12.5.3). */
import type { Encoding } from '#providers/store/store.ts';

// At equal weight, the smaller one first.
const preference: readonly Encoding[] = ['br', 'gzip', 'identity'];
const identityOnly: readonly Encoding[] = ['identity'];

// Browsers send a handful of different fields. The limit keeps forged ones from filling memory.
const known = new Map<string, readonly Encoding[]>();
const knownMax = 500;

/** Encodings that an Accept-Encoding field allows, best first. Always ends with `identity`, the fallback if none is acceptable. */
export function acceptedEncodings(field: string | undefined): readonly Encoding[] {
  if (field === undefined) return identityOnly;
  const found = known.get(field);
  if (found) return found;
  const accepted = rank(weights(field));
  if (known.size >= knownMax) known.clear();
  known.set(field, accepted);
  return accepted;
}

function weights(field: string): Map<string, number> {
  const given = new Map<string, number>();
  for (const part of field.split(',')) {
    const match = /^\s*([a-z0-9*_-]+)\s*(?:;\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/i.exec(part);
    if (!match) continue;
    const name = (match[1] as string).toLowerCase();
    given.set(name === 'x-gzip' ? 'gzip' : name, Number(match[2] ?? 1));
  }
  return given;
}

function rank(given: Map<string, number>): readonly Encoding[] {
  const rest = given.get('*');
  // An encoding that is not listed is not acceptable, except `identity`, which is acceptable last.
  const weight = (encoding: Encoding) => given.get(encoding) ?? rest ?? (encoding === 'identity' ? 0.0001 : 0);
  const accepted = preference.filter((encoding) => weight(encoding) > 0).sort((a, b) => weight(b) - weight(a));
  return accepted.includes('identity') ? accepted : [...accepted, 'identity'];
}
