/** The field `mail` of bookings, invitations, forms and submissions: the status of an e-mail about them. */
import { z } from 'zod';
import type { Mail } from '#db/mail/mail.ts';

export const mailStatus = z.enum(['queued', 'sent', 'not_sent']);

/** A mail that failed, or was beyond a limit, is `not_sent`. */
export function shownMailStatus({ status }: Pick<Mail, 'status'>): z.output<typeof mailStatus> {
  return status === 'failed' ? 'not_sent' : status;
}
