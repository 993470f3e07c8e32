/** Mails: queued in the transaction that causes them, sent by the workflow `notify`, forgotten once settled. */

import { contextOf } from '#db/encrypted-columns.ts';
import type { EntityManager } from '#db/orm.ts';
import { startWorkflow } from '#db/workflow-messages.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { decrypt, type EncryptionKeys, encrypt } from '#runtime/encryption.ts';
import { newId } from '#runtime/ids.ts';
import type { MailData, MailKind } from '#web/mails/mails.ts';
import { Mail } from './mail.ts';

const keptMs = 30 * 24 * 3600_000;

export type MailTo<Kind extends MailKind> = {
  kind: Kind;
  /** One plain address. */
  to: string;
  data: MailData<Kind>;
  /** Where an answer to it goes; our own sender where there is none. */
  replyTo?: string;
  /** From when on it is better not sent at all: its link is over then. */
  until?: Date;
  /** Whose site, whose account: while that is blocked, it waits. */
  site?: string;
  account?: string;
};

/** What is sealed in the row while the mail waits. */
export type Letter = { to: string; replyTo?: string; until?: string; data: unknown };

/**
 * Writes the mail and the start of its workflow into the caller's transaction, which sends it if it commits. Call it only where mail is
 * switched on. Keep the answer's id on the record that caused it: its state is there to be read.
 */
export function queueMail<Kind extends MailKind>(
  em: EntityManager,
  { clock, config }: { clock: Clock; config: Pick<Config, 'sealing'> },
  { kind, to, data, replyTo, until, site, account }: MailTo<Kind>,
): Mail {
  const id = newId('mail');
  const letter: Letter = {
    to,
    data,
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(until === undefined ? {} : { until: until.toISOString() }),
  };
  startNotify(em, clock, { id, kind }, { site, account });
  const sealed = encrypt(config.sealing, JSON.stringify(letter), contextOf.mail(id));
  const whose = { siteId: site ?? null, accountId: account ?? null };
  return em.create(Mail, { id, kind, status: 'queued', sealed, ...whose, createdAt: clock.now() });
}

/** Starts the workflow that sends the mail, when the transaction commits. */
export function startNotify(
  em: EntityManager,
  clock: Clock,
  { id, kind }: Pick<Mail, 'id' | 'kind'>,
  { site, account }: { site?: string | undefined; account?: string | undefined } = {},
): void {
  startWorkflow(em, clock, 'notify', { mailId: id }, { summary: `Mail: ${kind}`, site, account });
}

/** What a waiting mail holds. Throws DecryptionFault if its key is missing. */
export function decryptLetter(mail: Pick<Mail, 'id'> & { sealed: Uint8Array }, sealing: EncryptionKeys): Letter {
  return JSON.parse(decrypt(sealing, mail.sealed, contextOf.mail(mail.id)).toString('utf8'));
}

/** Whether the account that the mail is of, or is of a site of, is blocked. */
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

/** Ends a waiting mail and forgets its address and its words. False where it was settled already. */
export async function settleMail(
  em: EntityManager,
  clock: Clock,
  id: string,
  outcome: { status: 'sent' } | { status: 'failed'; failure: string },
): Promise<boolean> {
  const settled = { ...outcome, sealed: null, settledAt: clock.now() };
  return (await em.nativeUpdate(Mail, { id, status: 'queued' }, settled)) === 1;
}

/** Forgets mails that were settled long ago, but for those whose state an invitation or a submission still shows. Answers how many. */
export async function sweepMails(em: EntityManager, now: Date): Promise<number> {
  const gone = await em.execute<unknown[]>(
    `delete from mail m where settled_at < ? and not exists (select 1 from invitation i where i.mail_id = m.id)
       and not exists (select 1 from booking b where b.mail_id = m.id)
       and not exists (select 1 from submission s where s.mail_id = m.id) returning id`,
    [new Date(now.getTime() - keptMs)],
  );
  return gone.length;
}
