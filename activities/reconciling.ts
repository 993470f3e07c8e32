/** What the schedules do: rows held against workflows, and what is past its time deleted. */
import { WorkflowNotFoundError } from '@temporalio/client';
import { sweepAccessRequests } from '../db/access-requests.ts';
import { sweepBilling } from '../db/billing.ts';
import { sweepTicketKeys } from '../db/certificates.ts';
import { settle } from '../db/deployments.ts';
import { restartOverdue } from '../db/domains.ts';
import { Deployment } from '../db/entities/deployment.ts';
import { GitCredential } from '../db/entities/git-credential.ts';
import { OutboxEntry } from '../db/entities/outbox-entry.ts';
import { restartScans } from '../db/flags.ts';
import { sweepForms } from '../db/forms.ts';
import { sweepHolds } from '../db/holds.ts';
import { sweepMails } from '../db/mail.ts';
import { sweepOauth } from '../db/oauth.ts';
import { sweepUploads } from '../db/output.ts';
import { sweepPaymentEvents } from '../db/payments.ts';
import { sweepPreviews } from '../db/previews.ts';
import { sweepSignIns } from '../db/signin-links.ts';
import { unfinishedStatuses } from '../db/states.ts';
import { sweepTokens } from '../db/tokens.ts';
import type { Deps } from '../deps.ts';
import { errors } from '../errors.ts';
import { workflowIdOf } from '../workflows/ids.ts';
import { removeSnapshots } from './publishing/snapshot.ts';

// Younger ones may have a start that is on its way.
const settlingMs = 60_000;
const sentEntriesKeptMs = 7 * 24 * 3600_000;

type Unfinished = Pick<Deployment, 'id' | 'kind' | 'ticket'>;

export function reconcilingActivities(deps: Deps) {
  const { clock, log } = deps;

  /** Whether the deployment's workflow runs, has ended, or was never there. */
  async function workflowOf(deployment: Unfinished): Promise<'running' | 'ended' | 'missing'> {
    try {
      const { status } = await deps.temporal.workflow.getHandle(workflowIdOf(deployment)).describe();
      return status.name === 'RUNNING' ? 'running' : 'ended';
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return 'missing';
      throw error;
    }
  }

  /** Sends the start again. False where the entry is gone: it was sent longer ago than entries are kept. */
  async function restart(deployment: Unfinished): Promise<boolean> {
    const sent = await deps
      .em()
      .execute(`update outbox set sent_at = null where workflow_id = ? and kind = 'start' returning id`, [
        workflowIdOf(deployment),
      ]);
    if (sent.length > 0)
      log.warn(
        { deploymentId: deployment.id, repair: 'restarted' },
        'an unfinished publish had no workflow: started again',
      );
    return sent.length > 0;
  }

  async function fail(deploymentId: string): Promise<boolean> {
    const error = errors.internal('The platform could not finish this publish.', { nextAction: 'Publish again.' });
    const ended = await settle(deps.em(), clock, deploymentId, { status: 'failed', error: error.toBody() });
    await removeSnapshots(deps.store, deploymentId);
    if (ended)
      log.error(
        { deploymentId, repair: 'failed' },
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
          { fields: ['id', 'kind', 'ticket'], limit: 500, orderBy: { createdAt: 'asc' } },
        );
      const repaired = { restarted: 0, failed: 0 };
      for (const deployment of unfinished) {
        const workflow = await workflowOf(deployment);
        if (workflow === 'missing' && (await restart(deployment))) {
          repaired.restarted += 1;
        } else if (workflow !== 'running') {
          if (await fail(deployment.id)) repaired.failed += 1;
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
      await restartOverdue(em, clock);
      await restartScans(em, clock);
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
