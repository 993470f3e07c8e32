/** The workflows of a slot's deployments. */
import type { Clock } from '../clock.ts';
import { workflowIdOf } from '../workflows/ids.ts';
import type { Deployment } from './entities/deployment.ts';
import type { EntityManager } from './orm.ts';
import { enqueue } from './outbox.ts';

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
