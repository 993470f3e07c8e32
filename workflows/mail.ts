/**
 * notify: one mail to one address.
 *
 * Key: `mail:<mail>`. Durable because mail servers are sometimes down for hours: the mail is retried, soon at first and then each quarter of
 * an hour, for four days. It is delivered once. Only a process that dies, or a connection that is lost, between the last byte and the
 * recorded reply can cause a duplicate, with the same Message-ID; the row counts it (decision 015). It ends when the row is sent or failed. If it is stuck, the last failure of the activity
 * contains the server's reply code. Terminating it leaves the mail unsent; `schedule:reconcile-mails` marks
 * the row as failed within two minutes.
 */
import { isCancellation, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import * as policies from './policies.ts';

const { sendMail } = proxyActivities<Activities>(policies.delivery);
const { giveUpMail } = proxyActivities<Activities>(policies.quick);

const { reconcileMails, queueOwnerMails } = proxyActivities<Activities>({
  ...policies.quick,
  retry: { maximumAttempts: 3 },
});

export async function notify({ mailId }: { mailId: string }): Promise<{ status: string }> {
  setCurrentDetails('Waiting for the mail server to accept the e-mail.');
  const status = await deliver(mailId);
  setCurrentDetails(`Ended: **${status}**.`);
  return { status };
}

async function deliver(mailId: string): Promise<string> {
  try {
    return await sendMail.executeWithOptions({ summary: 'send the e-mail unless already sent' }, [mailId]);
  } catch (error) {
    if (isCancellation(error)) throw error;
    return await giveUpMail.executeWithOptions({ summary: 'no server accepted the e-mail for days' }, [mailId]);
  }
}

/** reconcileWaitingMails: restarts the workflows of queued mails that have none; `schedule:reconcile-mails`, each minute. */
export async function reconcileWaitingMails(): Promise<{ restarted: number; failed: number }> {
  return await reconcileMails();
}

/** mailOwners: queues e-mails about comments without an answer, and weekly summaries; `schedule:mail-owners`, each minute. */
export async function mailOwners(): Promise<{ comments: number; summaries: number }> {
  return await queueOwnerMails();
}
