/** Validation of owners' records (RFC 1035, 2782, 3596, 7208, 8659). Pure. */
import { isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import type { RecordType } from '#rules/states.ts';
import { isChallengeName } from './challenges.ts';
import { isWithin } from './names.ts';
import type { ZoneRecord } from './zone.ts';

export type RecordInput = {
  type: RecordType;
  name: string;
  content: string;
  ttl?: number | undefined;
  priority?: number | undefined;
};

/** Why a record is refused, as the rest of a sentence about it. */
export class RecordFault extends Error {}

const ttlDefault = 3600;
const textBytesMax = 2048;
const fault = (why: string): never => {
  throw new RecordFault(why);
};

/** The record as stored. Throws RecordFault. */
export function readRecord(zone: string, input: RecordInput): ZoneRecord {
  const { type, ttl = ttlDefault, priority } = input;
  const name = readName(zone, input.name);
  if (type !== 'MX' && type !== 'SRV' && priority !== undefined) fault(`a ${type} record cannot have a priority`);
  if (type === 'SRV' && priority === undefined) fault('an SRV record needs a priority');
  const content = readers[type](input.content.trim());
  if (type === 'CNAME' && content === name) fault('it points to itself');
  const ranked = type === 'MX' ? (priority ?? 10) : type === 'SRV' ? (priority ?? 0) : null;
  return { type, name, content, ttl, priority: ranked };
}

/**
 * Fully qualified, in ASCII, without the trailing dot. The input is `@`, a part before the zone's name, or the whole
 * name.
 */
function readName(zone: string, given: string): string {
  const text = given.trim();
  if (text === '@' || text === '') return zone;
  const isWhole = text.endsWith('.');
  const star = text.startsWith('*.') || text === '*' ? '*' : '';
  const rest = readHost((star ? text.slice(2) : text).replace(/\.$/, ''), star !== '');
  const isInside = isWithin(rest, zone);
  if (isWhole && !isInside) fault('its name is not within the domain');
  const full = isInside ? rest : `${rest ? `${rest}.` : ''}${zone}`;
  const name = star ? `*.${full}` : full;
  return name.length <= 253 ? name : fault('its name is too long');
}

const part = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** A host name, which may contain the underscores of service names. */
function readHost(text: string, mayBeEmpty = false): string {
  if (text === '' && mayBeEmpty) return '';
  // domainToASCII would silently drop some of these.
  if (/[\s\p{C}]/u.test(text)) fault('a host name cannot contain spaces or invisible characters');
  const ascii = /^[\x21-\x7e]*$/.test(text) ? text.toLowerCase() : domainToASCII(text);
  const isName = ascii !== '' && ascii.length <= 253 && ascii.split('.').every((one) => part.test(one));
  return isName ? ascii : fault(`${JSON.stringify(text.slice(0, 80))} is not a host name`);
}

function readTarget(text: string): string {
  const host = readHost(text.replace(/\.$/, ''));
  if (isIPv4(host)) fault('it must point to a name, not to an IP address');
  return host.includes('.') ? host : fault(`${JSON.stringify(host)} is not a fully qualified name`);
}

/** A host: without the underscores that other names may have (RFC 2181 section 11, RFC 952). */
function readMachine(text: string): string {
  const host = readTarget(text);
  return host.includes('_') ? fault(`${JSON.stringify(host)} is not a host name: it contains an underscore`) : host;
}

const readers: Record<RecordType, (content: string) => string> = {
  A: (content) => (isIPv4(content) ? content : fault('its content must be an IPv4 address such as 192.0.2.1')),
  AAAA: (content) =>
    isIPv6(content) && !content.includes('%')
      ? new URL(`http://[${content}]`).hostname.slice(1, -1)
      : fault('its content must be an IPv6 address such as 2001:db8::1'),
  CNAME: readTarget,
  NS: readMachine,
  // A single dot means that the domain accepts no mail (RFC 7505).
  MX: readExchange,
  TXT: readText,
  SRV: readService,
  CAA: readCaa,
};

function readExchange(content: string): string {
  if (/^\d+\s/.test(content))
    fault('its content must be the mail server only; send the number before it as `priority`');
  return content === '.' ? '.' : readMachine(content);
}

function readText(content: string): string {
  const text = /^"[^"]*"$/.test(content) ? content.slice(1, -1) : content;
  if (/\p{Cc}/u.test(text)) fault('its text must be on one line');
  if (!text.isWellFormed()) fault('its text contains characters that are not allowed');
  const bytes = Buffer.byteLength(text);
  if (bytes === 0) fault('its text is empty');
  return bytes <= textBytesMax ? text : fault(`its text has ${bytes} bytes; the limit is ${textBytesMax}`);
}

function readService(content: string): string {
  const [weight = '', port = '', target = '', ...more] = content.split(/\s+/);
  const isNumber = (text: string) => /^\d{1,5}$/.test(text) && Number(text) <= 65535;
  if (more.length > 0 || !isNumber(weight) || !isNumber(port) || target === '') {
    fault('its content must be weight, port and host, such as "5 5060 sip.example.com"');
  }
  return `${Number(weight)} ${Number(port)} ${target === '.' ? '.' : readMachine(target)}`;
}

const caaTags = ['issue', 'issuewild', 'issuemail', 'issuevmc', 'iodef', 'contactemail', 'contactphone'];

function readCaa(content: string): string {
  const [, flags = '', tag = '', quoted, bare] =
    /^(\d{1,3})\s+([a-zA-Z]+)\s+(?:"([^"\\]*)"|([^"\\\s]+))$/.exec(content) ?? [];
  const value = quoted ?? bare;
  const isRight = (flags === '0' || flags === '128') && caaTags.includes(tag.toLowerCase()) && value !== undefined;
  if (!isRight || !/^[\x20-\x7e]{0,255}$/.test(value))
    fault('its content must have the form 0 issue "letsencrypt.org"');
  return `${flags} ${tag.toLowerCase()} "${value}"`;
}

/** Throws RecordFault where the record conflicts with others of its zone, the platform's own included. */
export function requireCompatible(zone: string, record: ZoneRecord, others: readonly ZoneRecord[]): void {
  const { type, name } = record;
  if (isChallengeName(name, zone)) fault('the platform uses that name to validate the domain’s certificate');
  if (name === zone && type === 'NS') fault('the platform manages the name servers at the zone apex');
  if (name === zone && (type === 'A' || type === 'AAAA'))
    fault('the platform manages the address at the zone apex; attach a site to the domain instead');
  if (name === zone && type === 'CNAME') fault('the zone apex cannot have a CNAME record (RFC 1034 section 3.6.2)');
  const beside = others.filter((other) => other.name === name);
  const isSame = (other: ZoneRecord) =>
    other.type === type && other.content === record.content && other.priority === record.priority;
  if (beside.some(isSame)) fault('the same record already exists');
  if (beside.some((other) => other.type === 'CNAME'))
    fault(`${name} has a CNAME record, so it cannot have other records`);
  if (type === 'CNAME' && beside.length > 0)
    fault(`a name with a CNAME record cannot have other records, but ${name} has some`);
  if (name === zone) return;
  const isOtherKind = (other: ZoneRecord) => (other.type === 'NS') !== (type === 'NS');
  if (beside.some(isOtherKind)) fault(`a name with NS records cannot have other records, but ${name} would`);
}
