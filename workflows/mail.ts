/**
 * notify: one mail to one address.
 *
 * Key: `mail:<mail>`. Durable because a mail server is down for hours without anybody's fault: the mail is tried again, soon at first and
 * then each quarter of an hour, for four days. It is delivered once; only a process that dies, or a connection that is lost, between
 * the server's yes and our row can make it two, with one Message-ID. Ends when the row says sent or failed. If it is stuck: the
 * activity's last failure says what the mail server said, in a number. Terminating it leaves the mail unsent.
 */
import { isCancellation, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import * as policies from './policies.ts';

const { sendMail } = proxyActivities<Activities>(policies.delivery);
const { giveUpMail } = proxyActivities<Activities>(policies.quick);

const { reconcileMails } = proxyActivities<Activities>({ ...policies.quick, retry: { maximumAttempts: 3 } });

export async function notify({ mailId }: { mailId: string }): Promise<{ status: string }> {
  setCurrentDetails('Waits for the mail server to take it.');
  const status = await deliver(mailId);
  setCurrentDetails(`Ended: **${status}**.`);
  return { status };
}

async function deliver(mailId: string): Promise<string> {
  try {
    return await sendMail.executeWithOptions({ summary: 'send it, unless it was' }, [mailId]);
  } catch (error) {
    if (isCancellation(error)) throw error;
    return await giveUpMail.executeWithOptions({ summary: 'no server took it for days' }, [mailId]);
  }
}

/** reconcileWaitingMails: mails that wait without a workflow are started again; `schedule:reconcile-mails`, each minute. */
export async function reconcileWaitingMails(): Promise<{ restarted: number; failed: number }> {
  return await reconcileMails();
}
