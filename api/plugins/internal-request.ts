/** Calls that the API makes to itself keep the id of the request that they are part of. */
import { AsyncLocalStorage } from 'node:async_hooks';

const outer = new AsyncLocalStorage<string>();

/** Of the request for which the API calls itself. */
export const outerRequestId = (): string | undefined => outer.getStore();

/** Runs what makes calls to the API for this request. */
export function runAsInternalRequest<Result>(id: string, run: () => Promise<Result>): Promise<Result> {
  return outer.run(id, run);
}
