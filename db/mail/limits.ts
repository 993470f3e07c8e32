/**
 * E-mails that visitors cause. To people who may have no account here, visitors and invited addresses, a first e-mail
 * beyond a limit is not sent, and a later one about a booking waits. So do those to a site's owner. The limits are scaled
 * by `FRONTAGE_RATE_SCALE`.
 */
import { createHmac } from 'node:crypto';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { lockInTransaction } from '#db/transaction-lock.ts';
import { mailboxOf } from '#rules/mailboxes.ts';
import { dayMs, hourMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { deriveKey } from '#runtime/encryption.ts';
import { newId } from '#runtime/ids.ts';
import type { MailKind } from '#web/mails/mails.ts';
import { Mail } from './mail.ts';
import { type MailTo, queueMail } from './queue.ts';

/** To one address, from the whole platform; of one site; of all sites of one account. */
const firstContacts = { addressPerHour: 5, addressPerDay: 20, sitePerHour: 60, accountPerHour: 100 } as const;
/**
 * Of one booking until it is cancelled; of one site; of one account to one address. The last is for accounts that pay
 * for their own bookings in the payment provider's test mode.
 */
const followUps = { bookingPerDay: 3, sitePerHour: 300, addressPerHour: 5 } as const;

/** Of one site, to the person who is notified: of its enquiries, and of its bookings and payments. */
const notices = { sitePerHour: 60 } as const;

type Deps = { clock: Clock; config: Pick<Config, 'encryptionKeys' | 'rateScale' | 'secret'> };
type OfSite = Pick<Site, 'id' | 'account'>;
/** `site` is the site's id in the queue; here it is the site. */
type MailAbout<Kind extends MailKind> = Omit<MailTo<Kind>, 'site' | 'account' | 'until'> & { site: OfSite };

/** Locks the address until the transaction ends, so that concurrent requests are counted one after the other. */
export async function lockAddress(tx: EntityManager, email: string): Promise<void> {
  await lockInTransaction(tx, `address ${email}`);
}

/** The e-mails of an account's sites are counted one after the other. */
async function lockSender(tx: EntityManager, { account }: OfSite): Promise<void> {
  await lockInTransaction(tx, `mails of ${account.id}`);
}

/**
 * Queues the first e-mail about something to an address. Beyond a limit the returned mail has failed already: what
 * caused it is valid without it. The transaction takes no other lock afterwards.
 */
export async function queueFirstContact<Kind extends MailKind>(
  tx: EntityManager,
  deps: Deps,
  { site, ...mail }: MailAbout<Kind> & Pick<MailTo<Kind>, 'until'>,
  about: Partial<Pick<Mail, 'formId'>> = {},
): Promise<Mail> {
  const recipientHash = await lockRecipient(tx, deps, site, mail.to);
  if (await isBelowLimits(tx, deps, site, recipientHash)) {
    return queueMail(tx, deps, { ...mail, site: site.id } as MailTo<Kind>, { recipientHash, ...about });
  }
  const now = deps.clock.now();
  const failure = 'a limit of e-mails to people without an account was reached';
  return tx.create(Mail, {
    id: newId('mail'),
    kind: mail.kind,
    status: 'failed',
    failure,
    siteId: site.id,
    createdAt: now,
    settledAt: now,
  });
}

/**
 * The same for the acknowledgement of a form's submission. Null if the form has sent one to this address within a day.
 */
export async function queueAcknowledgement(
  tx: EntityManager,
  deps: Deps,
  formId: string,
  mail: MailAbout<'submission-received'>,
): Promise<Mail | null> {
  const recipientHash = await lockRecipient(tx, deps, mail.site, mail.to);
  const earlier = await tx.execute<unknown[]>(
    `select 1 from mail where recipient_hash = ? and created_at > ? and form_id = ? limit 1`,
    [recipientHash, new Date(deps.clock.now().getTime() - dayMs), formId],
  );
  return earlier.length > 0 ? null : await queueFirstContact(tx, deps, mail, { formId });
}

/** Locks the sender and the recipient until the transaction ends. Returns the recipient's hash. */
async function lockRecipient(tx: EntityManager, deps: Deps, site: OfSite, to: string): Promise<Buffer> {
  await lockSender(tx, site);
  const mailbox = mailboxOf(to);
  await lockAddress(tx, mailbox);
  return recipientHashOf(deps, mailbox);
}

function recipientHashOf({ config }: Deps, mailbox: string): Buffer {
  return createHmac('sha256', deriveKey(config.secret, 'mail recipient')).update(mailbox).digest();
}

async function isBelowLimits(
  tx: EntityManager,
  { clock, config }: Deps,
  site: OfSite,
  recipientHash: Buffer,
): Promise<boolean> {
  const now = clock.now().getTime();
  const [hourAgo, dayAgo] = [new Date(now - hourMs), new Date(now - dayMs)];
  const [counts] = await tx.execute<[Record<keyof typeof firstContacts, number>]>(
    `with first as not materialized (select * from mail where recipient_hash is not null and booking_id is null)
     select
       (select count(*)::int from first where recipient_hash = ? and created_at > ?) as "addressPerHour",
       (select count(*)::int from first where recipient_hash = ? and created_at > ?) as "addressPerDay",
       (select count(*)::int from first where site_id = ? and created_at > ?) as "sitePerHour",
       (select count(*)::int from first where created_at > ? and site_id in (select id from site where account_id = ?))
         as "accountPerHour"`,
    [recipientHash, hourAgo, recipientHash, dayAgo, site.id, hourAgo, hourAgo, site.account.id],
  );
  const names = Object.keys(firstContacts) as (keyof typeof firstContacts)[];
  return names.every((name) => counts[name] < Math.ceil(firstContacts[name] * config.rateScale));
}

/**
 * Queues an e-mail about an existing booking or its payment. It is always sent: at once, or when it is within the
 * limits, unless that is after `until`. The transaction takes no other lock afterwards.
 */
export async function queueFollowUp<Kind extends MailKind>(
  tx: EntityManager,
  deps: Deps,
  bookingId: string,
  { site, ...mail }: MailAbout<Kind> & Pick<MailTo<Kind>, 'until'>,
): Promise<Mail> {
  await lockSender(tx, site);
  const recipientHash = recipientHashOf(deps, mailboxOf(mail.to));
  const ofAccount = `${isFollowUp} and recipient_hash = ? and site_id in (select id from site where account_id = ?)`;
  const ofBooking = { where: `${isFollowUp} and booking_id = ?`, values: [bookingId] };
  const windows: Window[] = [
    ...(isPressing(mail.kind) ? [] : [{ ...ofBooking, limit: followUps.bookingPerDay, ms: dayMs }]),
    { where: `${isFollowUp} and site_id = ?`, values: [site.id], limit: followUps.sitePerHour, ms: hourMs },
    { where: ofAccount, values: [recipientHash, site.account.id], limit: followUps.addressPerHour, ms: hourMs },
  ];
  const counted = { recipientHash, bookingId, sendAt: await nextSending(tx, deps, windows) };
  return queueMail(tx, deps, { ...mail, site: site.id } as MailTo<Kind>, counted);
}

/**
 * A booking is cancelled once: a visitor who learns of it a day later comes in vain. A payer who learns of a part of
 * their refund a day later asks where it is.
 */
const isPressing = (kind: MailKind): boolean => kind === 'booking-cancelled' || kind === 'payment-refunded';

/**
 * Queues an e-mail to the person who is notified of what visitors do on a site. It is always sent: at once, or when it
 * is within the limit. The transaction takes no other lock afterwards.
 */
export async function queueNotice<Kind extends MailKind>(
  tx: EntityManager,
  deps: Deps,
  { site, ...mail }: MailAbout<Kind>,
): Promise<Mail> {
  await lockSender(tx, site);
  // Anybody can send enquiries, so they have a limit of their own and delay no notice of a booking or a payment.
  const ofKind = `kind ${mail.kind === 'submission' ? '=' : '<>'} 'submission'`;
  const where = `booking_id is null and send_at is not null and ${isCounted} and ${ofKind} and site_id = ?`;
  const window = { where, values: [site.id], limit: notices.sitePerHour, ms: hourMs };
  const sendAt = await nextSending(tx, deps, [window]);
  return queueMail(tx, deps, { ...mail, site: site.id } as MailTo<Kind>, { sendAt });
}

/** E-mails that one condition counts, and how many of them may be sent in a time. */
type Window = { where: string; values: (string | Buffer)[]; limit: number; ms: number };
/** A mail that was withdrawn, or that no server accepted, delays no other. */
const isCounted = "status <> 'failed'";
const isFollowUp = `booking_id is not null and ${isCounted}`;

/** When all windows have room for another e-mail: after the one that is `limit` before it has left the window. */
async function nextSending(tx: EntityManager, { clock, config }: Deps, windows: readonly Window[]): Promise<Date> {
  let at = clock.now().getTime();
  for (const { where, values, limit, ms } of windows) {
    const [row] = await tx.execute<{ send_at: string | Date }[]>(
      `select send_at from mail where ${where} order by send_at desc offset ? limit 1`,
      [...values, Math.ceil(limit * config.rateScale) - 1],
    );
    if (row) at = Math.max(at, new Date(row.send_at).getTime() + ms);
  }
  return new Date(at);
}
