/** Domain names in users' notation (RFC 1035, RFC 5891), and which of them can be added. */
import { domainToASCII, domainToUnicode } from 'node:url';
import { parse } from 'tldts';

export type Name = {
  /** ASCII, lower case, without the trailing dot. */
  name: string;
  /** The registrable name: one label below the public suffix. */
  registrable: string;
};

export type NameFault = { fault: 'invalid' | 'suffix'; why: string };

const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const nameCharsMax = 253;
/**
 * The CA's prefix (RFC 8555 section 8.4), the longest that is prepended to a name; the maximum length of names allows
 * for it.
 */
export const challengePrefix = '_acme-challenge.';
const roomChars = challengePrefix.length;

/** Parses a name, or returns its fault. `endings` are allowed besides the public suffix list. */
export function readName(text: string, endings: readonly string[] = []): Name | NameFault {
  const given = text.trim().replace(/\.$/, '');
  const invalid = (why: string): NameFault => ({ fault: 'invalid', why });
  if (/[/:@?#%\\\s*[\]]/.test(given)) {
    return invalid('a domain is a name only, without a scheme, path, port, IP address or asterisk');
  }
  const name = domainToASCII(given);
  const labels = name.split('.');
  if (name === '' || labels.some((one) => one === '')) return invalid('it is not a valid DNS name');
  if (labels.length < 2) return invalid('it has only one label');
  if (labels.some((one) => !label.test(one))) {
    return invalid('each label must have 1 to 63 letters, digits and hyphens, and cannot begin or end with a hyphen');
  }
  if (labels.some((one) => one.slice(2, 4) === '--' && !isEncoded(one))) {
    return invalid('only internationalised names can have hyphens as their third and fourth characters');
  }
  if (name.length > nameCharsMax - roomChars) return invalid(`it has more than ${nameCharsMax - roomChars} characters`);
  return withRegistrable(name, labels, endings);
}

/** Whether the label is valid Punycode in its canonical form. */
function isEncoded(one: string): boolean {
  return one.startsWith('xn--') && domainToUnicode(one) !== one && domainToASCII(domainToUnicode(one)) === one;
}

/** On the public suffix list, but not registrable (RFC 3172, RFC 7686, RFC 9476). */
const unregistered = ['arpa', 'onion', 'alt'];

function withRegistrable(name: string, labels: string[], endings: readonly string[]): Name | NameFault {
  const parsed = parse(name, { allowPrivateDomains: true });
  if (parsed.isIp) return { fault: 'invalid', why: 'it is an IP address, not a name' };
  const last = labels.at(-1) ?? '';
  if (unregistered.includes(last)) return { fault: 'invalid', why: `names cannot be registered under .${last}` };
  const isListed = parsed.isIcann || parsed.isPrivate || endings.includes(last);
  if (!isListed) return { fault: 'invalid', why: `names cannot be registered under .${last}` };
  if (!parsed.domain) return { fault: 'suffix', why: 'it is a public suffix; register a name below it' };
  return { name, registrable: parsed.domain };
}

/** Whether it is this name or one below it. */
export function isWithin(name: string, above: string): boolean {
  return name === above || name.endsWith(`.${above}`);
}

/** The name with Unicode letters, for display. */
export function displayName(name: string): string {
  return domainToUnicode(name) || name;
}

/** The name relative to its zone, as registrars' forms want it: `@` for the zone itself. */
export function hostPart(name: string, zone: string): string {
  return name === zone ? '@' : name.slice(0, -zone.length - 1);
}
