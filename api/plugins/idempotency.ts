/** `Idempotency-Key` on every POST of the scope: a repeated call answers what the first one made, as it is now. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { type Attempt, begin, free, keep, type Repeatable, releaseLease, renew, renewalMs } from '#api/idempotency.ts';
import { concurrentReplays } from '#api/replay-waiters.ts';
import type { Deps } from '#runtime/deps.ts';
import { AppError, errors } from '#runtime/errors.ts';
import { newId, newSecret } from '#runtime/ids.ts';
import { bearerSecret } from './bearer.ts';

/** A call waits for its work for 50 s at most, and its repetition a little longer for the call. */
const waitsMostMs = 60_000;

declare module 'fastify' {
  interface FastifyRequest {
    /** Set while the call runs under an `Idempotency-Key`, and in a replay. */
    attempt: Attempt | null;
    renewal: NodeJS.Timeout | null;
  }
}

/** Gives `request.newId` and `request.newSecret` to all scopes. */
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

/** Within whom a key is one: the account, and its token, which seals what is shown once. */
const callers = (request: FastifyRequest) => ({
  accountId: request.actor.accountId,
  bearer: bearerSecret(request) ?? '',
});

/**
 * After the token and the body are known to be good, so that a call which is refused for them leaves its key free. Where there is no token,
 * `whose` says within whom a key is one.
 */
export function idempotency(
  scope: Api,
  deps: Deps,
  whose: (request: FastifyRequest) => Pick<Repeatable, 'accountId' | 'bearer'> = callers,
): void {
  const replays = concurrentReplays();

  scope.addHook('preHandler', async (request, reply) => {
    const key = readKey(request);
    if (key === undefined) return;
    const { showsSecret = false } = request.routeOptions.config;
    const call = { ...whose(request), ...repeatable(request, key) };
    request.attempt = await withRequestSignal(deps, reply, (stop) => begin(deps, call, { showsSecret, replays, stop }));
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
    const { makes } = request.routeOptions.config;
    const made = request.answeredId ?? (makes ? `${makes}_${attempt.reservedId}` : attempt.reservedId);
    const done = settle(deps, attempt, { status: reply.statusCode, made });
    // Not kept: the lease runs out, and the next call takes this one up.
    await done.catch((error) => request.log.warn({ err: error }, 'an idempotency key could not be settled'));
  });
}

/** A refusal of a first run made nothing. What a failure left, or the run before this one, nobody knows. */
async function settle(deps: Deps, attempt: Attempt, { status, made }: { status: number; made: string }): Promise<void> {
  if (status < 400) return await keep(deps, attempt, made);
  if (status < 500 && attempt.state === 'first') return await free(deps, attempt);
  await releaseLease(deps, attempt);
}

/** Tells the act to stop when the caller hung up, the process is to end, or it has taken longer than any call waits. */
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
  // Either may have come before anybody listened.
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
  throw errors.invalid_input('The header Idempotency-Key must have 1 to 255 visible ASCII characters.');
}

function repeatable(request: FastifyRequest, key: string) {
  return {
    method: request.method,
    path: request.url,
    key,
    body: request.body,
  };
}

/** The answer to give in place of running the call; `undefined` when it is to run. */
async function earlierAnswer(request: FastifyRequest, attempt: Attempt): Promise<unknown> {
  const { replay, makes } = request.routeOptions.config;
  if (!replay || attempt.state === 'first') return undefined;
  if (attempt.state === 'answered') return await replay(request, attempt.resourceId);
  if (!makes) return undefined;
  try {
    return await replay(request, `${makes}_${attempt.reservedId}`);
  } catch (error) {
    // It died before it had made anything.
    if (error instanceof AppError && error.code === 'not_found') return undefined;
    throw error;
  }
}

function keepRenewing(deps: Deps, request: FastifyRequest, attempt: Attempt): NodeJS.Timeout {
  const timer = setInterval(() => {
    renew(deps, attempt).catch((error) => request.log.warn({ err: error }, 'an idempotency key could not be renewed'));
  }, renewalMs);
  return timer.unref();
}
