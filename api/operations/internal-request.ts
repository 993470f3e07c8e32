/**
 * Requests that the API sends to itself: a tool call with the token of its message, and a form of the console as the
 * person of its session. They are known by the context in which they are sent, of which no byte from outside is a part.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Actor } from '#api/access.ts';
import type { AppError } from '#runtime/errors.ts';

export type InternalRequest = {
  /** The id of the outer request. */
  id: string;
  /** The person of the outer request's session; without one, the request authenticates with its header. */
  person?: { actor: Actor; secret: string } | undefined;
  /** Set when the request is refused. */
  refusal?: AppError;
};

declare module 'fastify' {
  interface FastifyRequest {
    /** Null for requests from outside. */
    internal: InternalRequest | null;
  }
}

const outer = new AsyncLocalStorage<InternalRequest>();

/** The internal request in whose context this runs. */
export const currentInternalRequest = (): InternalRequest | undefined => outer.getStore();

/** Requests that `run` sends are this internal request. */
export function runAsInternalRequest<Result>(request: InternalRequest, run: () => Promise<Result>): Promise<Result> {
  return outer.run(request, run);
}
