/** Requests that the API sends to itself have the id of the request that caused them. */
import { AsyncLocalStorage } from 'node:async_hooks';

const outer = new AsyncLocalStorage<string>();

/** The id of the outer request, inside an internal one. */
export const outerRequestId = (): string | undefined => outer.getStore();

/** Internal requests within `run` have this id. */
export function runAsInternalRequest<Result>(id: string, run: () => Promise<Result>): Promise<Result> {
  return outer.run(id, run);
}
