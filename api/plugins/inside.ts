/** Calls that the API makes to itself keep the id of the request that they are part of. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { newRequestId } from './headers.ts';

const outer = new AsyncLocalStorage<string>();

/** The id of a request that begins: that of the one it is made for, or a new one. */
export const requestId = (): string => outer.getStore() ?? newRequestId();

/** Runs what makes calls to the API for this request. */
export function within<Result>(id: string, run: () => Promise<Result>): Promise<Result> {
  return outer.run(id, run);
}
