/** Whether a visitor is e-mailed about a change of their booking, before it is made. */
import { Mail } from '#db/mail/mail.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Config } from '#runtime/config.ts';
import type { Booking } from './booking.ts';
import { readPreparedMail } from './prepared-mails.ts';
import { decryptContact } from './visitor-contact.ts';

/** If the site's people move or cancel it now: the visitor asked for it, or an earlier e-mail to them is still unsent. */
export async function isChangeMailed(
  em: EntityManager,
  config: Pick<Config, 'encryptionKeys' | 'mail'>,
  { id, visitorSealed: sealed, mail }: Pick<Booking, 'id' | 'visitorSealed' | 'mail'>,
): Promise<boolean> {
  if (!config.mail) return false;
  const known = (await readPreparedMail(em, config, id)) ?? (sealed ? decryptContact(config, id, sealed) : null);
  if (known?.notifyChanges) return true;
  const unsent = [{ bookingId: id, kind: 'booking-reminder' as const }, ...(mail ? [{ id: mail.id }] : [])];
  return (await em.count(Mail, { status: 'queued', $or: unsent })) > 0;
}
