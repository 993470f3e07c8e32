/** Typed, sortable identifiers: a prefix, `_`, a UUIDv7 in base32 (TypeID specification 0.3). */
import { randomBytes } from 'node:crypto';
import { typeid } from 'typeid-js';

export type IdPrefix =
  | 'acct'
  | 'addr'
  | 'areq'
  | 'asset'
  | 'cred'
  | 'dep'
  | 'inv'
  | 'link'
  | 'mail'
  | 'out'
  | 'photo'
  | 'sess'
  | 'site'
  | 'sketch'
  | 'tok'
  | 'upl';

/** A new id, later in sort order than those made before it. */
export function newId(prefix: IdPrefix): string {
  return typeid(prefix).toString();
}

/** Whether the text has the shape of an id with this prefix. Says nothing about existence. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.length === prefix.length + 27 && new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`).test(text);
}

/** A secret of 32 random bytes in base64url behind a prefix that secret scanners can know: `fro_…`. */
export function newSecret(prefix: string): string {
  return `${prefix}_${randomBytes(32).toString('base64url')}`;
}

/** A short unguessable name for public addresses: 16 characters of base32, 80 bits. */
export function newPublicId(): string {
  const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
  return Array.from(randomBytes(16), (byte) => alphabet[byte & 31]).join('');
}
