/** Names of domains as people give them (RFC 1035, RFC 5891), and which of them this platform may hold. */
import { domainToASCII, domainToUnicode } from 'node:url';
import { parse } from 'tldts';

export type Name = {
  /** In ASCII and lower case, without the last dot. */
  name: string;
  /** One label below the public suffix: what was registered. */
  registrable: string;
};

export type NameFault = { fault: 'invalid' | 'suffix'; why: string };

const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const nameCharsMax = 253;
/** Where an authority looks below a name (RFC 8555 section 8.4): nothing longer is put before one, so that all of these fit. */
export const challengePrefix = '_acme-challenge.';
const roomChars = challengePrefix.length;

/** The name, or what is wrong with it. `endings` are taken beside those of the public suffix list. */
export function readName(text: string, endings: readonly string[] = []): Name | NameFault {
  const given = text.trim().replace(/\.$/, '');
  const invalid = (why: string): NameFault => ({ fault: 'invalid', why });
  if (/[/:@?#%\\\s*[\]]/.test(given)) {
    return invalid('a domain is only a name, without scheme, path, port, IP address or asterisk');
  }
  const name = domainToASCII(given);
  const labels = name.split('.');
  if (name === '' || labels.some((one) => one === '')) return invalid('it is not a valid DNS name');
  if (labels.length < 2) return invalid('it has only one label');
  if (labels.some((one) => !label.test(one))) {
    return invalid('each label has 1 to 63 letters, digits and hyphens, with no hyphen at its ends');
  }
  if (labels.some((one) => one.slice(2, 4) === '--' && !isEncoded(one))) {
    return invalid('only internationalised names have hyphens as third and fourth character');
  }
  if (name.length > nameCharsMax - roomChars) return invalid(`it has more than ${nameCharsMax - roomChars} characters`);
  return withRegistrable(name, labels, endings);
}

/** Whether the label says something in letters of the world, and says it in the one right way. */
function isEncoded(one: string): boolean {
  return one.startsWith('xn--') && domainToUnicode(one) !== one && domainToASCII(domainToUnicode(one)) === one;
}

/** On the public suffix list, and yet nobody's to register (RFC 3172, RFC 7686, RFC 9476). */
const unregistered = ['arpa', 'onion', 'alt'];

function withRegistrable(name: string, labels: string[], endings: readonly string[]): Name | NameFault {
  const parsed = parse(name, { allowPrivateDomains: true });
  if (parsed.isIp) return { fault: 'invalid', why: 'it is an IP address, not a name' };
  const last = labels.at(-1) ?? '';
  if (unregistered.includes(last)) return { fault: 'invalid', why: `names cannot be registered under .${last}` };
  const isListed = parsed.isIcann || parsed.isPrivate || endings.includes(last);
  if (!isListed) return { fault: 'invalid', why: `names cannot be registered under .${last}` };
  if (!parsed.domain) return { fault: 'suffix', why: 'it is a public suffix: names are registered below it' };
  return { name, registrable: parsed.domain };
}

/** Whether it is this name or one below it. */
export function isWithin(name: string, above: string): boolean {
  return name === above || name.endsWith(`.${above}`);
}

/** As people read it, where it has letters beyond ASCII. */
export function displayName(name: string): string {
  return domainToUnicode(name) || name;
}

/** The name within the zone of its registrable name, as registrars' forms want it: `@` for the zone itself. */
export function hostPart(name: string, zone: string): string {
  return name === zone ? '@' : name.slice(0, -zone.length - 1);
}
