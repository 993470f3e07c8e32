/** What the schedules do: rows held against workflows, and what is past its time deleted. */
import { sweepAccessRequests } from '#db/auth/access-request-expiry.ts';
import { GitCredential } from '#db/auth/git-credential.ts';
import { sweepOauth } from '#db/auth/oauth-expiry.ts';
import { sweepSignIns } from '#db/auth/signin-expiry.ts';
import { sweepTokens } from '#db/auth/token-expiry.ts';
import { sweepBilling } from '#db/billing/transitions.ts';
import { sweepHolds } from '#db/bookings/holds.ts';
import { sweepTicketKeys } from '#db/certificates/transitions.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import { settle } from '#db/deployments/transitions.ts';
import { sweepUploads } from '#db/deployments/uploads.ts';
import { overdueDomains, restartDomains } from '#db/domains/transitions.ts';
import { sweepForms } from '#db/forms/submissions.ts';
import { sweepMails } from '#db/mail/queue.ts';
import { requestOf } from '#db/outbox.ts';
import { OutboxEntry } from '#db/outbox-entry.ts';
import { sweepPaymentEvents } from '#db/payments/transitions.ts';
import { sweepPreviews } from '#db/previews/transitions.ts';
import { overdueScans, restartScans } from '#db/scanning/transitions.ts';
import { unfinishedStatuses } from '#rules/states.ts';
import { deploymentWorkflowId, workflowIds } from '#rules/workflow-ids.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { removeSnapshots } from './publishing/snapshot.ts';
import { workflowState } from './workflow-state.ts';

// Younger ones may have a start that is on its way.
const settlingMs = 60_000;
const sentEntriesKeptMs = 7 * 24 * 3600_000;

type UnfinishedDeployment = Pick<Deployment, 'id' | 'kind'>;

export function reconciliationActivities(deps: Deps) {
  const { clock, log } = deps;

  /** A line of each repair, which is counted with it, for the request that began what was lost. */
  async function tell(repair: 'restarted' | 'failed', lost: string, words: string): Promise<void> {
    const line = { lost, reqId: await requestOf(deps.em(), lost), repair };
    if (repair === 'failed') log.error(line, words);
    else log.warn(line, words);
  }

  /** Starts again what rows say should be at work on domains and scans; tells of those whose workflow was lost. */
  async function restartLost(): Promise<void> {
    const [domains, scans] = [await overdueDomains(deps.em(), clock), await overdueScans(deps.em(), clock)];
    // Those that were removed have ended, as a rule.
    const due = domains.filter(({ removedAt }) => !removedAt).map(({ id }) => workflowIds.onboardDomain(id));
    const lost: string[] = [];
    for (const workflowId of [...due, ...scans.map(({ id }) => workflowIds.scanContent(id))])
      if ((await workflowState(deps.temporal, workflowId)) !== 'running') lost.push(workflowId);
    await restartDomains(deps.em(), clock, domains);
    await restartScans(deps.em(), clock, scans);
    for (const workflowId of lost)
      await tell('restarted', workflowId, 'what should be at work was lost: started again');
  }

  /** Sends the start again. False where the entry is gone: it was sent longer ago than entries are kept. */
  async function restart(deployment: UnfinishedDeployment): Promise<boolean> {
    const workflowId = deploymentWorkflowId(deployment);
    const again = `update outbox set sent_at = null where workflow_id = ? and kind = 'start' returning id`;
    const sent = await deps.em().execute(again, [workflowId]);
    if (sent.length > 0) await tell('restarted', workflowId, 'an unfinished publish had no workflow: started again');
    return sent.length > 0;
  }

  async function fail(deployment: UnfinishedDeployment): Promise<boolean> {
    const deploymentId = deployment.id;
    const error = errors.internal('The platform could not finish this publish.', { nextAction: 'Publish again.' });
    const ended = await settle(deps.em(), clock, deploymentId, { status: 'failed', error: error.toBody() });
    await removeSnapshots(deps.store, deploymentId);
    if (ended)
      await tell(
        'failed',
        deploymentWorkflowId(deployment),
        'an unfinished publish has no workflow that could end it: marked as failed',
      );
    return ended;
  }

  return {
    async reconcileDeployments(): Promise<{ restarted: number; failed: number }> {
      const before = new Date(clock.now().getTime() - settlingMs);
      const unfinished = await deps
        .em()
        .find(
          Deployment,
          { status: { $in: [...unfinishedStatuses] }, createdAt: { $lt: before }, kind: { $ne: 'upload' } },
          { fields: ['id', 'kind'], limit: 500, orderBy: { createdAt: 'asc' } },
        );
      const repaired = { restarted: 0, failed: 0 };
      for (const deployment of unfinished) {
        const workflow = await workflowState(deps.temporal, deploymentWorkflowId(deployment));
        if (workflow === 'missing' && (await restart(deployment))) {
          repaired.restarted += 1;
        } else if (workflow !== 'running') {
          if (await fail(deployment)) repaired.failed += 1;
        }
      }
      return repaired;
    },

    /** Deletes what is past its time; what the API remembers for itself, it sweeps itself. Answers how many rows went. */
    async sweepRows(): Promise<number> {
      const em = deps.em();
      const now = clock.now();
      const sentBefore = new Date(now.getTime() - sentEntriesKeptMs);
      const sent = await em.nativeDelete(OutboxEntry, { sentAt: { $lt: sentBefore } });
      const ended = await em.nativeDelete(GitCredential, { expiresAt: { $lt: now } });
      const requests = await sweepAccessRequests(em, now);
      const tokens = await sweepTokens(em, now);
      const connectors = await sweepOauth(em, now);
      const signIns = await sweepSignIns(em, now);
      // Before the mails: what is swept here lets go of them.
      const forms = await sweepForms(em, now);
      const mails = await sweepMails(em, now);
      const uploads = await sweepUploads(em, now);
      const holds = await sweepHolds(em, now);
      const billing = await sweepBilling(em, now);
      const heard = await sweepPaymentEvents(em, now);
      const previews = await sweepPreviews(em, now);
      await restartLost();
      const ticketKeys = await sweepTicketKeys(em, now);
      return (
        sent +
        ended +
        requests +
        tokens +
        connectors +
        signIns +
        forms +
        mails +
        uploads +
        holds +
        billing +
        heard +
        previews +
        ticketKeys
      );
    },

    /** Deletes what killed processes left in the store, and caches that nobody asked for in a month. Answers how many files went. */
    sweepFiles: (): Promise<number> => deps.store.sweep(),
  };
}
