/**
 * followSubscription: a plan that is bought, from the page to pay on to the end of the subscription, for months or years.
 *
 * Key: `billing:<subscription>`. The row says what is in force; this asks the provider what has become of it, soon and often while somebody may be
 * paying, every few hours later, and at once when a message of the provider says that something moved, so a message that is lost is only slow.
 * It ends with the subscription, or with a page on which nobody paid. If it is stuck or terminated: `schedule:reconcile-billing` asks in its
 * place within minutes, and nothing that is in force or not changes hands by that.
 */
import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import { watchRow } from './deadlines.ts';
import * as policies from './policies.ts';

const { askAboutSubscription } = proxyActivities<Activities>(policies.providerQuery);
const { askLateSubscriptions } = proxyActivities<Activities>(policies.reconcile);

const waitsFor: Record<string, string> = {
  open: 'Waits for somebody to pay.',
  active: 'In force and paid for.',
  past_due: 'In force, and a payment is overdue.',
  ending: 'Out of force; to be ended at the provider.',
};

export async function followSubscription({ subscriptionId }: { subscriptionId: string }): Promise<{ status: string }> {
  return await watchRow(
    () => askAboutSubscription.executeWithOptions({ summary: 'what is it now?' }, [subscriptionId]),
    (status) => waitsFor[status] ?? '',
    { slackMs: 200, goOn: () => continueAsNew<typeof followSubscription>({ subscriptionId }) },
  );
}

/** reconcileBilling: asks about plans that nobody follows; runs each minute as `schedule:reconcile-billing`. */
export async function reconcileBilling(): Promise<{ late: number }> {
  return { late: await askLateSubscriptions() };
}
