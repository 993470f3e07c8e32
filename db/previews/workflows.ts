/** The workflows of a slot's deployments. */

import type { Deployment } from '#db/deployments/deployment.ts';
import type { EntityManager } from '#db/orm.ts';
import { enqueue } from '#db/outbox.ts';
import { workflowIdOf } from '#rules/workflow-ids.ts';
import type { Clock } from '#runtime/clock.ts';

/** Starts the workflow that finishes a deployment of a slot, when the transaction commits. */
export function startWorkflow(
  tx: EntityManager,
  clock: Clock,
  deployment: Deployment,
  type: 'buildPreview' | 'publishPreview',
  summary: string,
  hostname: string,
): void {
  const { id, site } = deployment;
  enqueue(tx, clock, {
    kind: 'start',
    workflowId: workflowIdOf(deployment),
    message: {
      type,
      input: { deploymentId: id },
      summary: `${summary}, version ${deployment.number}`,
      searchAttributes: { SiteId: site.id, AccountId: site.account.id, Hostname: hostname, Resource: id },
    },
  });
}
