/** How a call waits for the deployment that it has asked for. */
import { waitUntil } from '../../db/changes.ts';
import { Deployment } from '../../db/entities/deployment.ts';
import { isSettled } from '../../db/states.ts';
import type { Deps } from '../../deps.ts';
import { AppError } from '../../errors.ts';
import { failureDetail } from '../deployments/rules.ts';

/** The deployment when it changes no more, or after that time. */
export async function untilSettled(deps: Deps, id: string, timeoutMs: number): Promise<Deployment> {
  const load = () => deps.em().findOneOrFail(Deployment, { id });
  return await waitUntil(
    deps.changes,
    { channel: 'deployment_changed', id },
    load,
    ({ status }) => isSettled(status),
    timeoutMs,
  );
}

/** What the call is answered that has waited for a deployment which failed. */
export async function failure(deps: Deps, deployment: Deployment): Promise<AppError> {
  const { error } = deployment;
  if (!error) throw new Error('a failed deployment has its error');
  const detail = await failureDetail(deps.em(), deployment);
  return new AppError(error.code, error.message, {
    retryable: error.retryable,
    ...(error.next_action ? { nextAction: error.next_action } : {}),
    ...(detail === undefined ? {} : { detail }),
  });
}
