/** The steps of `notify`. */

import { setTimeout as pause } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { Mail } from '#db/mail/mail.ts';
import { isOfBlocked, openLetter, settleMail, startNotify } from '#db/mail/queue.ts';
import { requestOf } from '#db/outbox.ts';
import { MailNotSent } from '#providers/mail.ts';
import { workflowIds } from '#rules/workflow-ids.ts';
import type { Deps } from '#runtime/deps.ts';
import { DecryptionFault } from '#runtime/encryption.ts';
import { countMail } from '#runtime/telemetry/metrics.ts';
import { type MailData, writeMail } from '#web/mails/mails.ts';
import { workflowState } from './workflow-state.ts';

// Younger ones may have a start that is on its way.
const settlingMs = 60_000;
/** Mails looked at in one round, taken at random: in a long outage all that wait have their turn. */
const roundMax = 500;

export function mailActivities(deps: Deps) {
  const { clock, config, log } = deps;

  async function settled(id: string, outcome: Parameters<typeof settleMail>[3]): Promise<string> {
    await settleMail(deps.em(), clock, id, outcome);
    if (outcome.status === 'failed') countMail('given_up');
    return outcome.status;
  }

  /** The server has the mail: a row that did not say so would send it once more, so this is tried for a while. */
  async function keepSent(id: string): Promise<string> {
    for (let waitMs = 100; ; waitMs *= 2) {
      try {
        const status = await settled(id, { status: 'sent' });
        log.info({ mailId: id }, 'a mail was sent');
        countMail('sent');
        return status;
      } catch (error) {
        if (waitMs > 10_000) throw error;
        log.warn({ err: error, mailId: id }, 'a mail was sent and could not be written down yet');
        await pause(waitMs);
      }
    }
  }

  /** The one that tells of the block goes out. */
  const isHeldBack = async (mail: Mail) => mail.kind !== 'account-blocked' && (await isOfBlocked(deps.em(), mail));

  async function send(id: string): Promise<string> {
    const mail = await deps.em().findOne(Mail, { id });
    if (!mail) return 'gone';
    if (!mail.sealed) return mail.status;
    if (await isHeldBack(mail)) {
      // It waits on purpose: no fault that anybody should look at.
      const [message, category] = ['the account it is of is blocked', ApplicationFailureCategory.BENIGN];
      throw ApplicationFailure.create({ message, type: 'blocked', nonRetryable: false, category });
    }
    if (!deps.mailer) throw ApplicationFailure.retryable('no mail server is configured', 'not_configured');
    try {
      const letter = openLetter({ id, sealed: mail.sealed }, config.sealing);
      if (letter.until !== undefined && new Date(letter.until) <= clock.now()) {
        return await settled(id, { status: 'failed', failure: 'its time was over before a mail server took it' });
      }
      const written = writeMail(mail.kind, letter.data as MailData<typeof mail.kind>, { baseUrl: config.baseUrl });
      const messageId = `${id}@${new URL(config.baseUrl).hostname}`;
      const { to, replyTo } = letter;
      await deps.mailer.send({ ...written, to, replyTo, messageId, date: mail.createdAt });
    } catch (error) {
      if (error instanceof DecryptionFault) return await settled(id, { status: 'failed', failure: error.message });
      if (!(error instanceof MailNotSent)) throw error;
      if (error.outcome === 'refused') return await settled(id, { status: 'failed', failure: error.message });
      log.warn({ mailId: id, kind: mail.kind, reason: error.message }, 'a mail waits');
      countMail('waits');
      throw ApplicationFailure.retryable(error.message, 'not_taken');
    }
    return await keepSent(id);
  }

  return {
    /**
     * Sends a mail that waits. Throws what another try may mend, without a word of the server's or of the mail's. A try that was taken for
     * dead and is not keeps the next one out.
     */
    async sendMail(id: string): Promise<string> {
      const context = Context.current();
      const beat = setInterval(() => context.heartbeat(), 1000);
      try {
        const tried = await deps.exclusive.run(workflowIds.notify(id), () => send(id));
        if (tried.busy) throw ApplicationFailure.retryable('another try is at it', 'in_hand');
        return tried.value;
      } finally {
        clearInterval(beat);
      }
    },

    async giveUpMail(id: string): Promise<string> {
      const mail = await deps.em().findOne(Mail, { id });
      if (mail && (await isHeldBack(mail))) {
        log.info({ mailId: id }, 'a mail of a blocked account was given up');
        await settleMail(deps.em(), clock, id, { status: 'failed', failure: 'its account was blocked' });
      } else {
        log.error({ mailId: id }, 'a mail was given up');
        countMail('given_up');
        await settleMail(deps.em(), clock, id, { status: 'failed', failure: 'no mail server took it for days' });
      }
      return (await deps.em().findOne(Mail, { id }))?.status ?? 'gone';
    },

    /** Holds mails that wait against their workflows: starts what has none, ends what its workflow left behind. */
    async reconcileMails(): Promise<{ restarted: number; failed: number }> {
      const em = deps.em();
      const before = new Date(clock.now().getTime() - settlingMs);
      const waiting = await em.execute<Pick<Mail, 'id' | 'kind'>[]>(
        `select id, kind from mail where status = 'queued' and created_at < ? order by random() limit ${roundMax}`,
        [before],
      );
      const repaired = { restarted: 0, failed: 0 };
      for (const mail of waiting) {
        const workflowId = workflowIds.notify(mail.id);
        const workflow = await workflowState(deps.temporal, workflowId);
        if (workflow === 'running') continue;
        const told = { mailId: mail.id, reqId: await requestOf(em, workflowId) };
        if (workflow === 'missing') {
          startNotify(em, clock, mail);
          repaired.restarted += 1;
          log.warn({ ...told, repair: 'restarted' }, 'a mail that waits had no workflow: started again');
        } else {
          const failure = 'stopped before it was sent';
          if (!(await settleMail(em, clock, mail.id, { status: 'failed', failure }))) continue;
          repaired.failed += 1;
          log.error({ ...told, repair: 'failed' }, 'a mail that waits has no workflow that could send it');
        }
      }
      await em.flush();
      return repaired;
    },
  };
}
