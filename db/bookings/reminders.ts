/** Reminders that wait to be sent: of a booking that moves or is cancelled they would be untrue. */
import { Mail } from '#db/mail/mail.ts';
import { decryptLetter, settleMail, withText } from '#db/mail/queue.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';

export type Addressee = { to: string; cancelUrl: string; visitorZone?: string };

/** The recipient of a reminder of the booking that is still queued, which is then never sent. */
export async function withdrawReminder(
  tx: EntityManager,
  { clock, config }: { clock: Clock; config: Pick<Config, 'encryptionKeys'> },
  bookingId: string,
  failure: string,
): Promise<Addressee | null> {
  const queued = { bookingId, kind: 'booking-reminder', status: 'queued' } as const;
  const [mail] = await tx.find(Mail, queued, { ...withText, limit: 1 });
  if (!mail?.sealed) return null;
  const { to, data } = decryptLetter({ id: mail.id, sealed: mail.sealed }, config.encryptionKeys);
  if (!(await settleMail(tx, clock, mail.id, { status: 'failed', failure }))) return null;
  return { to, cancelUrl: (data as Addressee).cancelUrl, ...zoneIn(data) };
}

/** The visitor's own time zone in the data of a mail to them, if it is known. */
export function zoneIn(data: unknown): { visitorZone?: string } {
  const { visitorZone } = data as Addressee;
  return visitorZone === undefined ? {} : { visitorZone };
}
