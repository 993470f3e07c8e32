/** How to reach a visitor who has yet to pay: encrypted in the booking's row until the payment is settled. */
import { sqlList } from '#db/arrays.ts';
import { contextOf } from '#db/encrypted-columns.ts';
import { unknownAttempts } from '#rules/states.ts';
import type { Config } from '#runtime/config.ts';
import { decrypt, type EncryptionKeys, encrypt } from '#runtime/encryption.ts';

/** What a visitor wants to be notified, and the time zone in which mails repeat the times. */
export type VisitorWishes = { notifyChanges?: boolean; remind?: boolean; timeZone?: string };
/** `cancelSecret` is part of the link that cancels the booking. */
export type VisitorContact = VisitorWishes & { email: string; cancelSecret: string };

export function encryptContact(keys: EncryptionKeys, bookingId: string, contact: VisitorContact): Buffer {
  return encrypt(keys, JSON.stringify(contact), contextOf.booking(bookingId));
}

export function decryptContact(
  { encryptionKeys }: Pick<Config, 'encryptionKeys'>,
  bookingId: string,
  encrypted: Uint8Array,
): VisitorContact {
  return JSON.parse(decrypt(encryptionKeys, encrypted, contextOf.booking(bookingId)).toString());
}

/**
 * SQL for visitor_sealed of a booking that is no longer held: retained while a charge may still arrive, otherwise null.
 */
export const retainedContact = `case when exists (select 1 from payment_attempt a where a.payment_id = booking.payment_id
  and a.status in ${sqlList(unknownAttempts)}) then visitor_sealed end`;
