/** Whether a visitor is e-mailed about a change of their booking, before it is made. */
import { Mail } from '#db/mail/mail.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Config } from '#runtime/config.ts';
import type { Booking } from './booking.ts';
import { readContact } from './prepared-mails.ts';

/** If the site's people move or cancel it now: the visitor asked for it, or an earlier e-mail to them is still unsent. */
export async function isChangeMailed(
  em: EntityManager,
  config: Pick<Config, 'encryptionKeys' | 'mail'>,
  booking: Pick<Booking, 'id' | 'visitorSealed' | 'mail'>,
): Promise<boolean> {
  if (!config.mail) return false;
  const known = await readContact(em, config, booking);
  if (known?.notifyChanges) return true;
  const { id, mail } = booking;
  const unsent = [{ bookingId: id, kind: 'booking-reminder' as const }, ...(mail ? [{ id: mail.id }] : [])];
  return (await em.count(Mail, { status: 'queued', $or: unsent })) > 0;
}
