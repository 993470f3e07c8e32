/**
 * The one prepared, unsent mail of a booking whose visitor wants to be notified of changes or reminded. It stores the
 * visitor's address, encrypted, until the booking ends or is cancelled. It is never sent itself.
 */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { contextOf } from '#db/encrypted-columns.ts';
import type { EntityManager } from '#db/orm.ts';
import { dayMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { DecryptionFault, decrypt, encrypt } from '#runtime/encryption.ts';
import { Booking } from './booking.ts';
import { decryptContact, type VisitorContact } from './visitor-contact.ts';

export const PreparedMail = defineEntity({
  name: 'PreparedMail',
  properties: {
    booking: () => p.oneToOne(Booking).primary(),
    sealed: p.blob(),
    createdAt: p.datetime(),
  },
});
export type PreparedMail = InferEntity<typeof PreparedMail>;

/** How long before the start a visitor is reminded. A later booking gets no reminder. */
const reminderMs = dayMs;

type Deps = { clock: Clock; config: Pick<Config, 'encryptionKeys'> };

/** Prepares the mail of a confirmed booking if its visitor wants to be notified of something. */
export function prepareMail(tx: EntityManager, deps: Deps, booking: Booking, contact: VisitorContact): void {
  const { clock, config } = deps;
  const remindAt = contact.remind ? reminderOf(booking, clock.now()) : null;
  booking.remindAt = remindAt;
  if (!contact.notifyChanges && !remindAt) return;
  const sealed = encrypt(config.encryptionKeys, JSON.stringify(contact), contextOf.preparedMail(booking.id));
  tx.create(PreparedMail, { booking, sealed, createdAt: clock.now() });
}

/** When the visitor is reminded; null if that is past. Call it again when the booking has moved. */
export function reminderOf({ startsAt }: Pick<Booking, 'startsAt'>, now: Date): Date | null {
  const at = new Date(startsAt.getTime() - reminderMs);
  return at > now ? at : null;
}

/** What the visitor wants, and the address. Null if nothing is wanted, or if the key is lost. */
export async function readPreparedMail(
  tx: EntityManager,
  { encryptionKeys }: Pick<Config, 'encryptionKeys'>,
  bookingId: string,
): Promise<VisitorContact | null> {
  const prepared = await tx.findOne(PreparedMail, { booking: bookingId }, { refresh: true });
  if (!prepared) return null;
  try {
    return JSON.parse(decrypt(encryptionKeys, prepared.sealed, contextOf.preparedMail(bookingId)).toString());
  } catch (error) {
    if (error instanceof DecryptionFault) return null;
    throw error;
  }
}

/** The visitor of a booking, paid or not, as far as their address is known. */
export async function readContact(
  tx: EntityManager,
  config: Pick<Config, 'encryptionKeys'>,
  { id, visitorSealed: sealed }: Pick<Booking, 'id' | 'visitorSealed'>,
): Promise<VisitorContact | null> {
  return (await readPreparedMail(tx, config, id)) ?? (sealed ? decryptContact(config, id, sealed) : null);
}

/** Destroys the visitor's address. */
export async function destroyPreparedMail(tx: EntityManager, booking: Booking): Promise<void> {
  booking.remindAt = null;
  await tx.nativeDelete(PreparedMail, { booking: booking.id });
}

/** Destroys the addresses of bookings that have ended. Returns how many. */
export async function sweepPreparedMails(em: EntityManager, now: Date): Promise<number> {
  const gone = await em.execute<unknown[]>(
    `delete from prepared_mail m using booking b
     where b.id = m.booking_id and (b.status <> 'confirmed' or b.ends_at <= ?) returning b.id`,
    [now],
  );
  return gone.length;
}
