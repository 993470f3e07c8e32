/** E-mails are queued in the transaction that causes them, sent by the workflow `notify`, and erased once settled. */

import { contextOf } from '#db/encrypted-columns.ts';
import type { EntityManager } from '#db/orm.ts';
import { startWorkflow } from '#db/workflow-messages.ts';
import { dayMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { decrypt, type EncryptionKeys, encrypt } from '#runtime/encryption.ts';
import { newId } from '#runtime/ids.ts';
import type { MailData, MailKind } from '#web/mails/mails.ts';
import { Mail } from './mail.ts';

const keptMs = 30 * dayMs;

export type MailTo<Kind extends MailKind> = {
  kind: Kind;
  /** A plain address, without a name. */
  to: string;
  data: MailData<Kind>;
  /** Reply-To; the sender's address by default. */
  replyTo?: string;
  /** When it expires and is not sent any more, because its link has expired. */
  until?: Date;
  /** If set, the mail waits while this account, or the owner of this site, is blocked. */
  site?: string;
  account?: string;
};

/** The encrypted part of a queued mail. */
export type Letter = { to: string; replyTo?: string; until?: string; data: unknown };

/**
 * Adds the mail and the start of its workflow to the caller's transaction. Call it only if mail is configured. Store
 * the returned id on the record that caused the mail, to read its status later.
 */
export function queueMail<Kind extends MailKind>(
  em: EntityManager,
  { clock, config }: { clock: Clock; config: Pick<Config, 'encryptionKeys'> },
  { kind, to, data, replyTo, until, site, account }: MailTo<Kind>,
  counted: Partial<Pick<Mail, 'recipientHash' | 'formId' | 'bookingId' | 'sendAt'>> = {},
): Mail {
  const id = newId('mail');
  const letter: Letter = {
    to,
    data,
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(until === undefined ? {} : { until: until.toISOString() }),
  };
  startNotify(em, clock, { id, kind, sendAt: counted.sendAt ?? null }, { site, account });
  const sealed = encrypt(config.encryptionKeys, JSON.stringify(letter), contextOf.mail(id));
  const whose = { siteId: site ?? null, accountId: account ?? null };
  return em.create(Mail, { id, kind, status: 'queued', sealed, ...whose, ...counted, createdAt: clock.now() });
}

/** Starts the workflow that sends the mail, at the time when it may be sent. */
export function startNotify(
  em: EntityManager,
  clock: Clock,
  { id, kind, sendAt }: Pick<Mail, 'id' | 'kind' | 'sendAt'>,
  { site, account }: { site?: string | undefined; account?: string | undefined } = {},
): void {
  const startAt = sendAt ?? undefined;
  startWorkflow(em, clock, 'notify', { mailId: id }, { summary: `Mail: ${kind}`, site, account, startAt });
}

/** Options to read a mail with its text. No later flush can write that: it may have been encrypted again meanwhile. */
export const withText = { populate: ['sealed'], disableIdentityMap: true } as const;

/** The decrypted contents of a queued mail, which was read with its text. Throws DecryptionFault if its key is missing. */
export function decryptLetter(mail: Pick<Mail, 'id'> & { sealed: Uint8Array }, encryptionKeys: EncryptionKeys): Letter {
  return JSON.parse(decrypt(encryptionKeys, mail.sealed, contextOf.mail(mail.id)).toString('utf8'));
}

/** Whether the mail's account, or the owner of its site, is blocked. */
export async function isAccountBlocked(
  em: EntityManager,
  { siteId, accountId }: Pick<Mail, 'siteId' | 'accountId'>,
): Promise<boolean> {
  const rows = await em.execute<unknown[]>(
    `select 1 from site where id = ? and owner_blocked_at is not null
     union all select 1 from account where id = ? and blocked_at is not null`,
    [siteId ?? null, accountId ?? null],
  );
  return rows.length > 0;
}

/** Marks a queued mail as failed and erases its address and text. False where it was settled already. */
export async function settleMail(
  em: EntityManager,
  clock: Clock,
  id: string,
  outcome: { status: 'failed'; failure: string },
): Promise<boolean> {
  const settled = { ...outcome, sealed: null, settledAt: clock.now() };
  return (await em.nativeUpdate(Mail, { id, status: 'queued' }, settled)) === 1;
}

/** Records how many attempts have no known reply: one more while one waits for it, and as before once it has come. */
export async function recordUnanswered(em: EntityManager, id: string, unanswered: number): Promise<void> {
  await em.nativeUpdate(Mail, { id, unanswered: { $ne: unanswered } }, { unanswered });
}

/** Records that the mail server accepted the mail, also one that was withdrawn while it was being sent. */
export async function recordSent(em: EntityManager, clock: Clock, id: string, unanswered = 0): Promise<void> {
  const sent = { status: 'sent', failure: null, sealed: null, settledAt: clock.now(), unanswered } as const;
  await em.nativeUpdate(Mail, { id, status: { $ne: 'sent' } }, sent);
}

/**
 * Deletes old settled mails, except those whose status an invitation, a booking or a submission shows, and hashes of
 * addresses that no limit counts any more. Returns how many mails.
 */
export async function sweepMails(em: EntityManager, now: Date): Promise<number> {
  await em.execute(
    'update mail set recipient_hash = null where recipient_hash is not null and coalesce(send_at, created_at) < ?',
    [new Date(now.getTime() - dayMs)],
  );
  const gone = await em.execute<unknown[]>(
    `delete from mail m where settled_at < ? and not exists (select 1 from invitation i where i.mail_id = m.id)
       and not exists (select 1 from booking b where b.mail_id = m.id)
       and not exists (select 1 from booking b where b.notice_id = m.id)
       and not exists (select 1 from submission s where s.mail_id = m.id or s.acknowledgement_id = m.id) returning id`,
    [new Date(now.getTime() - keptMs)],
  );
  return gone.length;
}
