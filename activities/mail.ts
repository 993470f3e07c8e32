/** The activities of `notify`. */

import { setTimeout as pause } from 'node:timers/promises';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { queueDueReminders } from '#db/bookings/change-mails.ts';
import { sweepPreparedMails } from '#db/bookings/prepared-mails.ts';
import { Mail } from '#db/mail/mail.ts';
import {
  decryptLetter,
  isAccountBlocked,
  recordSent,
  recordUnanswered,
  settleMail,
  startNotify,
  withText,
} from '#db/mail/queue.ts';
import { requestOf } from '#db/outbox.ts';
import { MailNotSent } from '#providers/mail.ts';
import { workflowIds } from '#rules/workflow-ids.ts';
import type { Deps } from '#runtime/deps.ts';
import { DecryptionFault } from '#runtime/encryption.ts';
import { countMail } from '#runtime/telemetry/metrics.ts';
import { type MailData, writeMail } from '#web/mails/mails.ts';
import { withHeartbeat } from './heartbeat.ts';
import { workflowState } from './workflow-state.ts';

// The start of a younger mail may still be in the outbox.
const settlingMs = 60_000;
/** Mails checked in one round, chosen at random so that in a long outage every mail is checked eventually. */
const roundMax = 500;

export function mailActivities(deps: Deps) {
  const { clock, config, log } = deps;

  async function settled(id: string, outcome: Parameters<typeof settleMail>[3]): Promise<string> {
    await settleMail(deps.em(), clock, id, outcome);
    countMail('given_up');
    return outcome.status;
  }

  /** The server has accepted the mail. An unsaved row would send it again, so saving is retried for a while. */
  async function keepSent({ id, kind, unanswered }: Mail): Promise<string> {
    for (let waitMs = 100; ; waitMs *= 2) {
      try {
        await recordSent(deps.em(), clock, id, unanswered);
        log.info({ mailId: id, kind }, 'an e-mail was sent');
        countMail('sent');
        return 'sent';
      } catch (error) {
        if (waitMs > 10_000) throw error;
        log.warn({ err: error, mailId: id }, 'an e-mail was sent, but its status could not be saved yet');
        await pause(waitMs);
      }
    }
  }

  /** A process that dies from here to the reply leaves an attempt without one. */
  async function beginEnd({ id, kind, unanswered }: Mail): Promise<void> {
    await recordUnanswered(deps.em(), id, unanswered + 1);
    if (unanswered === 0) return;
    log.warn(
      { mailId: id, kind, unanswered },
      'an e-mail is sent again, because it is unknown whether it was accepted',
    );
    countMail('repeated');
  }

  /** The notice of the block itself is sent. */
  const isHeldBack = async (mail: Mail) => mail.kind !== 'account-blocked' && (await isAccountBlocked(deps.em(), mail));

  async function send(id: string): Promise<string> {
    const mail = await deps.em().findOne(Mail, { id }, withText);
    if (!mail) return 'gone';
    if (!mail.sealed) return mail.status;
    if (await isHeldBack(mail)) {
      // It waits on purpose: BENIGN failures are neither logged nor counted.
      const [message, category] = ['the account of this e-mail is blocked', ApplicationFailureCategory.BENIGN];
      throw ApplicationFailure.create({ message, type: 'blocked', nonRetryable: false, category });
    }
    if (!deps.mailer) throw ApplicationFailure.retryable('no mail server is configured', 'not_configured');
    try {
      const letter = decryptLetter({ id, sealed: mail.sealed }, config.encryptionKeys);
      if (letter.until !== undefined && new Date(letter.until) <= clock.now()) {
        return await settled(id, { status: 'failed', failure: 'the e-mail expired before a mail server accepted it' });
      }
      const written = writeMail(mail.kind, letter.data as MailData<typeof mail.kind>, { baseUrl: config.baseUrl });
      const messageId = `${id}@${new URL(config.baseUrl).hostname}`;
      const { to, replyTo } = letter;
      const date = mail.sendAt ?? mail.createdAt;
      await deps.mailer.send({ ...written, to, replyTo, messageId, date, beforeEnd: () => beginEnd(mail) });
    } catch (error) {
      if (error instanceof DecryptionFault) return await settled(id, { status: 'failed', failure: error.message });
      if (!(error instanceof MailNotSent)) throw error;
      if (error.outcome !== 'unknown') await recordUnanswered(deps.em(), id, mail.unanswered);
      if (error.outcome === 'refused') return await settled(id, { status: 'failed', failure: error.message });
      log.warn({ mailId: id, kind: mail.kind, reason: error.message }, 'an e-mail could not be sent yet');
      countMail('waits');
      throw ApplicationFailure.retryable(error.message, 'not_taken');
    }
    return await keepSent(mail);
  }

  return {
    /**
     * Sends a queued mail. Throws if a retry may help; errors contain no text of the server or the mail. The lock excludes a retry while an
     * attempt that Temporal has given up is still running.
     */
    async sendMail(id: string): Promise<string> {
      return await withHeartbeat(async () => {
        const attempt = await deps.locks.run(workflowIds.notify(id), () => send(id));
        if (attempt.busy) throw ApplicationFailure.retryable('another attempt is running', 'in_progress');
        return attempt.value;
      });
    },

    async giveUpMail(id: string): Promise<string> {
      const mail = await deps.em().findOne(Mail, { id });
      if (mail && (await isHeldBack(mail))) {
        log.info({ mailId: id }, 'an e-mail for a blocked account was abandoned');
        await settleMail(deps.em(), clock, id, { status: 'failed', failure: 'the account was blocked' });
      } else {
        log.error({ mailId: id }, 'an e-mail was abandoned');
        countMail('given_up');
        await settleMail(deps.em(), clock, id, {
          status: 'failed',
          failure: 'no mail server accepted the e-mail within four days',
        });
      }
      return (await deps.em().findOne(Mail, { id }))?.status ?? 'gone';
    },

    /**
     * Compares queued mails with their workflows: starts a missing one, and fails a mail whose workflow has ended. Queues visitors'
     * reminders that are due, and destroys the addresses of those whose bookings have ended.
     */
    async reconcileMails(): Promise<{ restarted: number; failed: number }> {
      const em = deps.em();
      const before = new Date(clock.now().getTime() - settlingMs);
      const waiting = await em.execute<(Pick<Mail, 'id' | 'kind'> & { send_at: string | Date | null })[]>(
        `select id, kind, send_at from mail where status = 'queued' and created_at < ? order by random() limit ${roundMax}`,
        [before],
      );
      const repaired = { restarted: 0, failed: 0 };
      for (const mail of waiting) {
        const workflowId = workflowIds.notify(mail.id);
        const workflow = await workflowState(deps.temporal, workflowId);
        if (workflow === 'running') continue;
        const line = { mailId: mail.id, reqId: await requestOf(em, workflowId) };
        if (workflow === 'missing') {
          startNotify(em, clock, { ...mail, sendAt: mail.send_at === null ? null : new Date(mail.send_at) });
          repaired.restarted += 1;
          log.warn({ ...line, repair: 'restarted' }, 'restarted the missing workflow of a queued e-mail');
        } else {
          const failure = 'the workflow ended before the e-mail was sent';
          if (!(await settleMail(em, clock, mail.id, { status: 'failed', failure }))) continue;
          repaired.failed += 1;
          log.error({ ...line, repair: 'failed' }, 'a queued e-mail whose workflow had ended was marked as failed');
        }
      }
      await em.flush();
      await queueDueReminders(deps);
      await sweepPreparedMails(deps.em(), clock.now());
      return repaired;
    },
  };
}
