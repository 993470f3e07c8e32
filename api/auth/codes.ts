/** Codes that a person reads off one screen and types on another. */
import { createHmac, randomInt, timingSafeEqual } from 'node:crypto';
import { deriveKey } from '#runtime/encryption.ts';

// Consonants alone spell no words, and none looks like a digit (RFC 8628 section 6.1): 20^8, or 34.5 bits.
const alphabet = 'BCDFGHJKLMNPQRSTVWXZ';

/** After so many wrong tries, what the code was for is over. */
export const wrongCodesMax = 5;

/** Eight letters. */
export function newUserCode(): string {
  return Array.from({ length: 8 }, () => alphabet[randomInt(alphabet.length)]).join('');
}

/** What is kept of a code: it is short, so its hash needs a key and belongs to one record alone. */
export function hashCode(secret: string, recordId: string, code: string): Buffer {
  const key = deriveKey(secret, 'user code');
  return createHmac('sha256', key).update(`${recordId}\0${code}`).digest();
}

/** Whether what somebody typed is the record's code: in small letters, with spaces or hyphens, all the same. */
export function isCode(secret: string, record: { id: string; codeHash: Uint8Array }, typed: string): boolean {
  const code = typed.replace(/[\s\p{Pd}]/gu, '').toUpperCase();
  return timingSafeEqual(hashCode(secret, record.id, code), record.codeHash);
}
