/** Codes that people read on one screen and type on another. */
import { createHmac, randomInt, timingSafeEqual } from 'node:crypto';
import { deriveKey } from '#runtime/encryption.ts';

// Consonants only: they spell no words, and none looks like a digit (RFC 8628 section 6.1). 20^8 codes, or 34.5 bits.
const alphabet = 'BCDFGHJKLMNPQRSTVWXZ';

/** After this many wrong codes, the record is closed. */
export const wrongCodesMax = 5;

export function newUserCode(): string {
  return Array.from({ length: 8 }, () => alphabet[randomInt(alphabet.length)]).join('');
}

/** The stored hash of a code. The code is short, so the hash has a key and includes the record's id. */
export function hashCode(secret: string, recordId: string, code: string): Buffer {
  const key = deriveKey(secret, 'user code');
  return createHmac('sha256', key).update(`${recordId}\0${code}`).digest();
}

/** Whether the typed code is the record's. Case, spaces and hyphens are ignored. */
export function isCode(secret: string, record: { id: string; codeHash: Uint8Array }, typed: string): boolean {
  return timingSafeEqual(hashCode(secret, record.id, plainCode(typed)), record.codeHash);
}

/** Whether somebody may have typed a code, right or wrong. */
export function isCodeShaped(typed: string): boolean {
  return new RegExp(`^[${alphabet}]{8}$`).test(plainCode(typed));
}

const plainCode = (typed: string): string => typed.replace(/[\s\p{Pd}]/gu, '').toUpperCase();
