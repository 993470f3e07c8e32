/** Typed, sortable identifiers: a prefix, `_`, a UUIDv7 in base32 (TypeID specification 0.3). */
import { createHash, randomBytes } from 'node:crypto';
import { typeid } from 'typeid-js';

export type IdPrefix =
  | 'acct'
  | 'addr'
  | 'agr'
  | 'areq'
  | 'ask'
  | 'asset'
  | 'book'
  | 'bsub'
  | 'cal'
  | 'cert'
  | 'check'
  | 'cmp'
  | 'cred'
  | 'dep'
  | 'dom'
  | 'feed'
  | 'flag'
  | 'form'
  | 'grant'
  | 'hist'
  | 'inv'
  | 'lease'
  | 'link'
  | 'mail'
  | 'offer'
  | 'ogrt'
  | 'out'
  | 'msg'
  | 'note'
  | 'page'
  | 'pay'
  | 'photo'
  | 'pout'
  | 'prev'
  | 'rec'
  | 'ref'
  | 'rev'
  | 'sess'
  | 'shot'
  | 'site'
  | 'sketch'
  | 'sub'
  | 'thread'
  | 'tok'
  | 'upl';

/** A new id, later in sort order than those made before it. */
export function newId(prefix: IdPrefix): string {
  return typeid(prefix).toString();
}

/** Whether the text has the shape of an id with this prefix. Does not check that it exists. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.length === prefix.length + 27 && new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`).test(text);
}

/** A secret of 32 random bytes in base64url, with a prefix that secret scanners recognise: `fro_…`. */
export function newSecret(prefix: string): string {
  return `${prefix}_${randomBytes(32).toString('base64url')}`;
}

/** A short unguessable name for public addresses: 16 characters of base32, 80 bits. */
export function newPublicId(): string {
  return randomName(16);
}

/** The same for what has this id, which it does not tell: a creation that is resumed gives the same name again. */
export function publicIdOf(id: string): string {
  return nameFrom(createHash('sha256').update(`public\0${id}`).digest().subarray(0, 16));
}

/** Prefixes of the platform's own hosts. No site name has two hyphens in a row, so none collides. */
const hostPrefixes = { sketch: 's--', preview: 'p--' } as const;
export type HostKind = keyof typeof hostPrefixes;

/** First label of an unguessable host: the prefix of its kind and 26 characters of base32, 130 bits. */
export function newHostLabel(kind: HostKind): string {
  return `${hostPrefixes[kind]}${randomName(26)}`;
}

/** Whether the label has the shape of this kind. Does not check that it exists. */
export function isHostLabel(kind: HostKind, label: string): boolean {
  const prefix = hostPrefixes[kind];
  return label.startsWith(prefix) && /^[0-9a-hjkmnp-tv-z]{26}$/.test(label.slice(prefix.length));
}

/** A booking reference that can be read out on the telephone: 8 characters of base32, 40 bits. Unique within a site. */
export function newReference(): string {
  return randomName(8).toUpperCase();
}

const randomName = (length: number) => nameFrom(randomBytes(length));

function nameFrom(bytes: Buffer): string {
  const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
  return Array.from(bytes, (byte) => alphabet[byte & 31]).join('');
}
