/**
 * followSubscription: a purchased plan, from the checkout session to the end of the subscription, months or years later.
 *
 * Key: `billing:<subscription>`. The row says whether the plan is in force. This workflow polls the provider: often while the checkout is open,
 * every few hours later, and at once after a webhook. A lost webhook therefore only causes a delay. It ends with the subscription, or with an
 * unpaid checkout. If it is stuck or terminated, `schedule:reconcile-billing` polls instead within minutes, and the plan stays as it is.
 */
import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import * as policies from './policies.ts';
import { watchRow } from './watch-row.ts';

const { askAboutSubscription } = proxyActivities<Activities>(policies.providerQuery);
const { askLateSubscriptions } = proxyActivities<Activities>(policies.reconcile);

const waitsFor: Record<string, string> = {
  open: 'Waiting for payment.',
  active: 'In force and paid.',
  past_due: 'In force, but a payment is overdue.',
  ending: 'No longer in force; to be cancelled with the provider.',
};

export async function followSubscription({ subscriptionId }: { subscriptionId: string }): Promise<{ status: string }> {
  return await watchRow(
    () => askAboutSubscription.executeWithOptions({ summary: 'poll the provider' }, [subscriptionId]),
    (status) => waitsFor[status] ?? '',
    { slackMs: 200, continueAsNew: () => continueAsNew<typeof followSubscription>({ subscriptionId }) },
  );
}

/** reconcileBilling: polls subscriptions whose workflow is lost; runs each minute as `schedule:reconcile-billing`. */
export async function reconcileBilling(): Promise<{ late: number }> {
  return { late: await askLateSubscriptions() };
}
