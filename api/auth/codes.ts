/** Codes that people read on one screen and type on another. */
import { createHmac, randomInt, timingSafeEqual } from 'node:crypto';
import { deriveKey } from '#runtime/encryption.ts';

// Consonants only: they spell no words, and none looks like a digit (RFC 8628 section 6.1). 20^8 codes, or 34.5 bits.
const alphabet = 'BCDFGHJKLMNPQRSTVWXZ';

/** After this many wrong codes, the record is closed. */
export const wrongCodesMax = 5;

/** A row whose code somebody types. */
export type Coded = { id: string; codeHash: Uint8Array; wrongCodes: number };

export function newUserCode(): string {
  return Array.from({ length: 8 }, () => alphabet[randomInt(alphabet.length)]).join('');
}

/**
 * Six digits that a page shows. They follow from the record and the end of their validity, so that the page can show
 * them again, and only the installation's secret tells them.
 */
export function sixDigits(secret: string, recordId: string, expiresAt: Date): string {
  const key = deriveKey(secret, 'six digits');
  const bytes = createHmac('sha256', key).update(`${recordId}\0${expiresAt.getTime()}`).digest();
  return String(bytes.readUIntBE(0, 6) % 1_000_000).padStart(6, '0');
}

/** The stored hash of a code. The code is short, so the hash has a key and includes the record's id. */
export function hashCode(secret: string, recordId: string, code: string): Buffer {
  const key = deriveKey(secret, 'user code');
  return createHmac('sha256', key).update(`${recordId}\0${code}`).digest();
}

/**
 * Checks a typed code, and counts it in the record if it is wrong. The caller holds the row's lock, so that concurrent
 * codes are counted one after the other. Without tries left, no code is right. Text that cannot be a code is not
 * counted: mail scanners fill in forms.
 */
export function checkCode(
  secret: string,
  record: Coded,
  typed: string,
): { isRight: true } | { isRight: false; triesLeft: number } {
  if (isSpent(record)) return { isRight: false, triesLeft: 0 };
  const code = plainCode(typed);
  if (timingSafeEqual(hashCode(secret, record.id, code), record.codeHash)) return { isRight: true };
  if (codeShape.test(code)) record.wrongCodes += 1;
  return { isRight: false, triesLeft: wrongCodesMax - record.wrongCodes };
}

/** Whether too many wrong codes were typed. */
export const isSpent = ({ wrongCodes }: Pick<Coded, 'wrongCodes'>): boolean => wrongCodes >= wrongCodesMax;

const codeShape = new RegExp(`^(?:[${alphabet}]{8}|[0-9]{6})$`);
const plainCode = (typed: string): string => typed.replace(/[\s\p{Pd}]/gu, '').toUpperCase();
