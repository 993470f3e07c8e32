/** Reconciliation and sweeping: restarts or fails rows whose workflow is lost, and deletes expired data. */

import {
  freeAddresses,
  overdueAccountDeletions,
  restartAccountDeletions,
  sweepDeletionCodes,
} from '#db/accounts/deletion.ts';
import { textArray } from '#db/arrays.ts';
import { sweepAccessRequests } from '#db/auth/access-request-expiry.ts';
import { GitCredential } from '#db/auth/git-credential.ts';
import { sweepOauth } from '#db/auth/oauth-expiry.ts';
import { sweepRefusedCalls } from '#db/auth/refused-call.ts';
import { sweepSignIns } from '#db/auth/signin-expiry.ts';
import { sweepScopeAllowances, sweepTokens } from '#db/auth/token-expiry.ts';
import { sweepBilling } from '#db/billing/transitions.ts';
import { sweepHolds } from '#db/bookings/holds.ts';
import { sweepTicketKeys } from '#db/certificates/transitions.ts';
import type { Deployment } from '#db/deployments/deployment.ts';
import { sweepOutput } from '#db/deployments/output.ts';
import { settle } from '#db/deployments/transitions.ts';
import { overdueDomains, restartDomains } from '#db/domains/transitions.ts';
import { sweepForms } from '#db/forms/submissions.ts';
import { sweepHistory } from '#db/history/expiry.ts';
import { sweepMails } from '#db/mail/queue.ts';
import type { EntityManager } from '#db/orm.ts';
import { requestOf } from '#db/outbox.ts';
import { OutboxEntry } from '#db/outbox-entry.ts';
import { sweepPaymentEvents } from '#db/payments/transitions.ts';
import { sweepPreviews } from '#db/previews/transitions.ts';
import { sweepRenderings } from '#db/renderings/transitions.ts';
import { overdueScans, restartScans } from '#db/scanning/transitions.ts';
import { freeNames, overdueDeletions, restartDeletions } from '#db/sites/deletion.ts';
import { sweepFormerNames } from '#db/sites/former-names.ts';
import { sweepChallenges } from '#db/used-challenges.ts';
import { unfinishedStatuses } from '#rules/states.ts';
import { dayMs } from '#rules/time.ts';
import { deploymentWorkflowId, workflowIds } from '#rules/workflow-ids.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { removeSnapshots } from './publishing/snapshot.ts';
import { workflowState } from './workflow-state.ts';

// The start of a younger row may still be in the outbox.
const settlingMs = 60_000;
/** Deployments checked in one round, chosen at random so that every one is checked eventually, however many wait. */
const roundMax = 500;
const sentEntriesKeptMs = 7 * dayMs;

type UnfinishedDeployment = Pick<Deployment, 'id' | 'kind'>;

/** Each deletes expired rows and returns their number. They run in this order. */
const sweepers: readonly ((em: EntityManager, now: Date) => Promise<number>)[] = [
  (em, now) => em.nativeDelete(OutboxEntry, { sentAt: { $lt: new Date(now.getTime() - sentEntriesKeptMs) } }),
  (em, now) => em.nativeDelete(GitCredential, { expiresAt: { $lt: now } }),
  sweepAccessRequests,
  sweepScopeAllowances,
  sweepRefusedCalls,
  sweepTokens,
  sweepOauth,
  sweepSignIns,
  // Before the mails: submissions reference them.
  sweepForms,
  sweepChallenges,
  sweepMails,
  sweepOutput,
  sweepHolds,
  sweepBilling,
  sweepPaymentEvents,
  sweepPreviews,
  sweepRenderings,
  sweepTicketKeys,
  freeNames,
  freeAddresses,
  sweepDeletionCodes,
  sweepFormerNames,
  sweepHistory,
];

export function reconciliationActivities(deps: Deps) {
  const { clock, log } = deps;

  /** Logs a repair, which also counts it, with the id of the request that started the lost workflow. */
  async function logRepair(repair: 'restarted' | 'failed', lost: string, words: string): Promise<void> {
    const line = { lost, reqId: await requestOf(deps.em(), lost), repair };
    if (repair === 'failed') log.error(line, words);
    else log.warn(line, words);
  }

  /** Restarts the workflows of overdue domains, scans and deletions, and logs those that were lost. */
  async function restartLost(): Promise<void> {
    const [domains, scans] = [await overdueDomains(deps.em(), clock), await overdueScans(deps.em(), clock)];
    const deletions = await overdueDeletions(deps.em(), clock);
    const leaving = await overdueAccountDeletions(deps.em(), clock);
    // Workflows of removed domains have usually ended.
    const due = domains.filter(({ removedAt }) => !removedAt).map(({ id }) => workflowIds.onboardDomain(id));
    const lost: string[] = [];
    const scanned = scans.map(({ id }) => workflowIds.scanContent(id));
    const deleted = deletions.map(({ id }) => workflowIds.deleteSite(id));
    const left = leaving.map(({ id }) => workflowIds.deleteAccount(id));
    for (const workflowId of [...due, ...scanned, ...deleted, ...left])
      if ((await workflowState(deps.temporal, workflowId)) !== 'running') lost.push(workflowId);
    await restartDomains(deps.em(), clock, domains);
    await restartScans(deps.em(), clock, scans);
    await restartDeletions(deps.em(), clock, deletions);
    await restartAccountDeletions(deps.em(), clock, leaving);
    for (const workflowId of lost) await logRepair('restarted', workflowId, 'restarted a missing workflow');
  }

  /** Sends the start again. Returns false if the outbox entry has been deleted. */
  async function restart(deployment: UnfinishedDeployment): Promise<boolean> {
    const workflowId = deploymentWorkflowId(deployment);
    const again = `update outbox set sent_at = null where workflow_id = ? and kind = 'start' returning id`;
    const sent = await deps.em().execute(again, [workflowId]);
    if (sent.length > 0)
      await logRepair('restarted', workflowId, 'restarted the missing workflow of an unfinished publish');
    return sent.length > 0;
  }

  async function fail(deployment: UnfinishedDeployment): Promise<boolean> {
    const deploymentId = deployment.id;
    const error = errors.internal('The platform could not complete this publish.', { nextAction: 'Publish again.' });
    const ended = await settle(deps.em(), deps, deploymentId, { status: 'failed', error: error.toBody() });
    await removeSnapshots(deps.store, deploymentId);
    if (ended)
      await logRepair(
        'failed',
        deploymentWorkflowId(deployment),
        'an unfinished publish without a workflow was marked as failed',
      );
    return ended;
  }

  return {
    async reconcileDeployments(): Promise<{ restarted: number; failed: number }> {
      const before = new Date(clock.now().getTime() - settlingMs);
      const unfinished = await deps.em().execute<UnfinishedDeployment[]>(
        `select id, kind from deployment where status = any(?) and created_at < ? and kind <> 'upload'
         order by random() limit ${roundMax}`,
        [textArray(unfinishedStatuses), before],
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

    /** Deletes expired rows, except those that the API sweeps itself. Returns the number of deleted rows. */
    async sweepRows(): Promise<number> {
      let deleted = 0;
      for (const sweep of sweepers) deleted += await sweep(deps.em(), clock.now());
      await restartLost();
      return deleted;
    },

    /** Deletes files of killed processes, and caches unused for a month, from the store. Returns the number of files. */
    sweepFiles: (): Promise<number> => deps.store.sweep(),
  };
}
