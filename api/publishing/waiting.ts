/** Waiting for a deployment to settle. */

import { failureDetail } from '#api/deployments/rules.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import { loadUntil } from '#db/notifications.ts';
import { isSettled } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { AppError } from '#runtime/errors.ts';

/** The deployment once it is settled, or as it is after the timeout. */
export async function waitForDeployment(deps: Deps, id: string, timeoutMs: number): Promise<Deployment> {
  const load = () => deps.em().findOneOrFail(Deployment, { id });
  return await loadUntil(
    deps.notifications,
    { channel: 'deployment_changed', id },
    load,
    ({ status }) => isSettled(status),
    timeoutMs,
  );
}

/** The error for a call that waited for a deployment which failed. */
export async function failure(deps: Deps, deployment: Deployment): Promise<AppError> {
  const { error } = deployment;
  if (!error) throw new Error('the failed deployment has no error');
  const detail = await failureDetail(deps.em(), deployment);
  return AppError.of({ ...error, ...(detail === undefined ? {} : { detail }) });
}
