/**
 * `Idempotency-Key` for all POST routes of a scope: a repeated request returns the current state of the resource that
 * the first one created.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { type Attempt, begin, free, keep, type Repeatable, releaseLease, renew, renewalMs } from '#api/idempotency.ts';
import { concurrentReplays } from '#api/replay-waiters.ts';
import { HistoryEntry } from '#db/history/history-entry.ts';
import type { Deps } from '#runtime/deps.ts';
import { AppError, withRemedy } from '#runtime/errors.ts';
import { newId, newSecret } from '#runtime/ids.ts';
import { bearerSecret } from './bearer.ts';

/** A request waits for its work for at most 50 s, so a repeated request waits slightly longer. */
const waitsMostMs = 60_000;

declare module 'fastify' {
  interface FastifyRequest {
    /** Set while the request runs with an `Idempotency-Key`, and in a replay. */
    attempt: Attempt | null;
    renewal: NodeJS.Timeout | null;
  }
}

/** Adds `request.newId` and `request.newSecret` to all scopes. */
export function decorateReservedIds(app: Api): void {
  app.decorateRequest('attempt', null);
  app.decorateRequest('renewal', null);
  app.decorateRequest('answeredId', null);
  app.decorateRequest('newId', function (this: FastifyRequest, prefix) {
    return this.attempt ? `${prefix}_${this.attempt.reservedId}` : newId(prefix);
  });
  app.decorateRequest('newSecret', function (this: FastifyRequest, prefix) {
    return this.attempt?.secret ? `${prefix}_${this.attempt.secret.toString('base64url')}` : newSecret(prefix);
  });
}

/** Keys belong to an account. The token, or the browser's cookie, encrypts secrets that are shown once. */
const callers = (request: FastifyRequest) => ({
  accountId: request.actor.accountId,
  bearer: request.internal?.person?.secret ?? bearerSecret(request) ?? '',
});

/**
 * Runs after authentication and validation, so a request that fails there does not use up its key. `whose` identifies
 * the caller where there is no token.
 */
export function idempotency(
  scope: Api,
  deps: Deps,
  whose: (request: FastifyRequest) => Pick<Repeatable, 'accountId' | 'bearer'> = callers,
): void {
  const replays = concurrentReplays();

  scope.addHook('preHandler', async (request, reply) => {
    const key = readKey(request);
    // The bytes of a file are not compared: a call that takes one is safe to repeat.
    if (key === undefined || request.routeOptions.config.rawBody) return;
    const { showsSecret = false } = request.routeOptions.config;
    const call = { ...whose(request), ...repeatable(request, key) };
    request.attempt = await withRequestSignal(deps, reply, (stop) => begin(deps, call, { showsSecret, replays, stop }));
    if (request.routeOptions.config.recordsOnce) {
      request.actor = { ...request.actor, entryId: request.newId('hist') };
    }
    const answer = await earlierAnswer(request, request.attempt);
    if (answer !== undefined) return reply.send(answer);
    request.renewal = keepRenewing(deps, request, request.attempt);
  });

  scope.addHook('preSerialization', async (request, _reply, payload) => {
    const id = (payload as { id?: unknown } | null)?.id;
    if (typeof id === 'string') request.answeredId = id;
    return payload;
  });

  scope.addHook('onSend', async (request, reply) => {
    const { attempt } = request;
    clearInterval(request.renewal ?? undefined);
    if (!attempt || attempt.state === 'answered') return;
    const made = request.answeredId ?? resourceOf(request, attempt) ?? attempt.reservedId;
    const done = settle(deps, attempt, { status: reply.statusCode, made });
    // If this fails, the lease expires and the next request resumes this one.
    await done.catch((error) =>
      request.log.warn({ err: error }, 'the result of a request with an idempotency key could not be stored'),
    );
  });
}

/** A refused first run created nothing. A failed run, or a run before this one, may have created something. */
async function settle(deps: Deps, attempt: Attempt, { status, made }: { status: number; made: string }): Promise<void> {
  if (status < 400) return await keep(deps, attempt, made);
  if (status < 500 && attempt.state === 'first') return await free(deps, attempt);
  await releaseLease(deps, attempt);
}

/** Aborts `act` when the client disconnects, the process shuts down, or the maximum wait is over. */
async function withRequestSignal<T>(
  { shutdown }: Deps,
  { raw }: FastifyReply,
  act: (stop: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const end = () => stop.abort();
  const timer = setTimeout(end, waitsMostMs);
  raw.once('close', end);
  shutdown.signal.addEventListener('abort', end);
  // Either event may have occurred before the listeners were added.
  if (shutdown.signal.aborted || raw.destroyed) end();
  try {
    return await act(stop.signal);
  } finally {
    clearTimeout(timer);
    raw.off('close', end);
    shutdown.signal.removeEventListener('abort', end);
  }
}

function readKey(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key'];
  if (request.method !== 'POST' || key === undefined) return undefined;
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw withRemedy('invalid_input', 'The Idempotency-Key header must contain 1 to 255 visible ASCII characters.');
}

function repeatable(request: FastifyRequest, key: string) {
  return {
    method: request.method,
    path: request.url,
    key,
    body: request.body,
  };
}

/** The response of an earlier request; `undefined` if this one must run. */
async function earlierAnswer(request: FastifyRequest, attempt: Attempt): Promise<unknown> {
  const { replay, recordsOnce } = request.routeOptions.config;
  if (!replay || attempt.state === 'first') return undefined;
  if (attempt.state === 'answered') return await replay(request, attempt.resourceId);
  const resource = resourceOf(request, attempt);
  if (resource === undefined) return undefined;
  if (recordsOnce) return (await isRecorded(request)) ? await replay(request, resource) : undefined;
  try {
    return await replay(request, resource);
  } catch (error) {
    // The earlier request died before it created anything.
    if (error instanceof AppError && error.code === 'not_found') return undefined;
    throw error;
  }
}

/** Whether an earlier run of the request had its effect. */
const isRecorded = async ({ em, actor: { entryId } }: FastifyRequest): Promise<boolean> =>
  entryId !== undefined && (await em.count(HistoryEntry, { id: entryId })) > 0;

/** The id of what the call makes, or of what it changes once. */
function resourceOf({ routeOptions, params }: FastifyRequest, { reservedId }: Attempt): string | undefined {
  const { makes, recordsOnce } = routeOptions.config;
  if (makes) return `${makes}_${reservedId}`;
  return recordsOnce ? (params as { id: string }).id : undefined;
}

function keepRenewing(deps: Deps, request: FastifyRequest, attempt: Attempt): NodeJS.Timeout {
  const timer = setInterval(() => {
    renew(deps, attempt).catch((error) =>
      request.log.warn({ err: error }, 'the lease of an idempotency key could not be renewed'),
    );
  }, renewalMs);
  return timer.unref();
}
