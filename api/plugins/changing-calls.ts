/**
 * Limits how many changing calls of one account run at a time in this process. Each may hold a database connection
 * while it waits for a locked row, so that without a limit one account could take all of the pool.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { type AccountSlotLimits, createAccountSlots } from '#runtime/account-slots.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, errors } from '#runtime/errors.ts';
import { recheckAuthorization } from './bearer.ts';

const callLimits: AccountSlotLimits = {
  // A call of another account never waits: most of what a call does needs no connection.
  running: Number.POSITIVE_INFINITY,
  perAccount: 4,
  waiting: 2_000,
  waitingPerAccount: 200,
  waitMs: 30_000,
};
const retryAfterSeconds = 5;
const methods = ['POST', 'PUT', 'PATCH', 'DELETE'];

declare module 'fastify' {
  interface FastifyRequest {
    /** Frees the slot of a changing call that from now on waits for a workflow. Null if the call has none. */
    leaveSlot: (() => void) | null;
  }
}

/**
 * Add it to a scope with tokens before its routes. A slot is taken when the body was read and validated and the
 * idempotency key is known, so no call has one while it waits for its client or for another call. Files are read by
 * their handlers, which therefore have no slot.
 */
export function limitChangingCalls(scope: Api, deps: Deps, limits = callLimits): void {
  const slots = createAccountSlots(limits, { refusal: tooMany });

  /** Refuses a queued call whose client has disconnected, or whose token was revoked or has expired in the queue. */
  async function requireStillWanted(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (reply.raw.destroyed) throw errors.rate_limited('The client disconnected while its call waited.');
    await recheckAuthorization(request.em, deps, request.actor);
  }

  scope.addHook('onRoute', (route) => {
    const { handler } = route;
    if (route.config?.rawBody || ![route.method].flat().some((method) => methods.includes(method))) return;
    // Not freed by the end of the response: after a disconnect the handler continues, and may hold a connection.
    route.handler = async function (request, reply) {
      const { accountId } = request.actor;
      const waits = !slots.isFree(accountId);
      request.leaveSlot = await slots.acquire(accountId);
      try {
        if (waits) await requireStillWanted(request, reply);
        return await handler.call(this, request, reply);
      } finally {
        request.leaveSlot();
      }
    };
  });
}

function tooMany(): AppError {
  return errors.rate_limited('Too many changing calls of this account are running.', {
    nextAction: `Send the same request again after ${retryAfterSeconds} seconds, and fewer at a time.`,
    retryAfterSeconds,
  });
}
