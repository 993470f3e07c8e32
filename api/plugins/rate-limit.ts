/**
 * Limits per minute, counted in the database so that all API processes share them. If the database is unreachable,
 * requests pass: a limit protects the service and must not cause an outage.
 */
import { hash } from 'node:crypto';
import rateLimit, { normalizeIP, type RateLimitPluginOptions } from '@fastify/rate-limit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import type { Config } from '#runtime/config.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, errors } from '#runtime/errors.ts';

/** Requests per minute, before `FRONTAGE_RATE_SCALE`. */
export const perMinute = {
  token: 600,
  /** Files of a manifest, per token: the 25,000 files that a site may have take about two minutes. */
  files: 12_000,
  /** Messages of the Model Context Protocol, per token. The operations that they call also count. */
  mcp: 600,
  signIn: 120,
  pages: 120,
  git: 300,
  uploads: 300,
  thumbs: 300,
  offers: 300,
  bookings: 60,
  /** Reads of one calendar feed. Calendar programs read it every few minutes. */
  feed: 30,
  /** Reads of calendar feeds from one address, which can be that of a calendar service. */
  feeds: 600,
  reviews: 300,
  /** OAuth clients send requests for many owners from few addresses. */
  oauth: 300,
  registrations: 30,
  forms: 30,
  challenges: 30,
  formReads: 300,
} as const;
const windowMs = 60_000;

/** Registers the limiters of this file for all scopes. */
export async function shareLimits(app: Api, deps: Deps): Promise<void> {
  await app.register(rateLimit, {
    global: false,
    enableDraftSpec: true,
    skipOnError: true,
    timeWindow: windowMs,
    store: counterStore(deps) as NonNullable<RateLimitPluginOptions['store']>,
    errorResponseBuilder: (_request, { ttl }) => limited(ttl),
  });
}

/** Limits requests per token; routes with `counted` have their own limit. Add it after `requireToken`. */
export function limitTokens(scope: Api, { config }: Deps): void {
  const nameOf = (request: FastifyRequest) => request.routeOptions.config.counted ?? 'token';
  const max = (request: FastifyRequest) => Math.ceil(perMinute[nameOf(request)] * config.rateScale);
  const keyGenerator = (request: FastifyRequest) => `${nameOf(request)}:${request.actor.tokenId}`;
  scope.addHook('onRequest', scope.rateLimit({ max, keyGenerator }));
}

/** Limits requests per client address, under a name. */
export function limitClients(scope: Api, { config }: Deps, name: keyof typeof perMinute): void {
  const max = Math.ceil(perMinute[name] * config.rateScale);
  scope.addHook(
    'onRequest',
    scope.rateLimit({ max, keyGenerator: (request) => `${name}:${clientOf(request, config)}` }),
  );
}

export type ClientLimiter = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** Like `limitClients`, for use within a handler. Throws `rate_limited`. */
export function clientLimiter(scope: Api, { config }: Deps, name: keyof typeof perMinute): ClientLimiter {
  const max = Math.ceil(perMinute[name] * config.rateScale);
  const count = scope.createRateLimit({ max, keyGenerator: (request) => `${name}:${clientOf(request, config)}` });
  return async (request, reply) => {
    const result = await count(request);
    if (result.isAllowed) return;
    setLimitHeaders(reply, result);
    if (result.isExceeded) throw limited(result.ttl);
  };
}

/** Counts requests under a key that the handler knows. Throws `rate_limited`. */
export function keyedLimiter(
  scope: Api,
  { config }: Deps,
  name: keyof typeof perMinute,
): (key: string, request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const max = Math.ceil(perMinute[name] * config.rateScale);
  const keys = new WeakMap<FastifyRequest, string>();
  const count = scope.createRateLimit({ max, keyGenerator: (request) => `${name}:${keys.get(request)}` });
  return async (key, request, reply) => {
    keys.set(request, key);
    const result = await count(request);
    if (result.isAllowed) return;
    setLimitHeaders(reply, result);
    if (result.isExceeded) throw limited(result.ttl);
  };
}

/** Limits requests without a valid token per client address. Returns `rate_limited`. */
export function limitFailedSignIns(
  scope: Api,
  { config }: Deps,
): (request: FastifyRequest, reply: FastifyReply) => Promise<AppError | undefined> {
  const count = scope.createRateLimit({
    max: Math.ceil(perMinute.signIn * config.rateScale),
    keyGenerator: (request) => `refused:${clientOf(request, config)}`,
  });
  return async (request, reply) => {
    const result = await count(request);
    if (result.isAllowed) return undefined;
    setLimitHeaders(reply, result);
    return result.isExceeded ? limited(result.ttl) : undefined;
  };
}

function setLimitHeaders(reply: FastifyReply, counted: { max: number; remaining: number; ttlInSeconds: number }): void {
  reply.header('ratelimit-limit', counted.max);
  reply.header('ratelimit-remaining', counted.remaining);
  reply.header('ratelimit-reset', counted.ttlInSeconds);
}

/**
 * A key for the client: one IPv4 address, or the /64 network of an IPv6 client. It is a hash, because clients include
 * visitors, whose addresses are never stored.
 */
export function networkKey(ip: string, { secret }: Pick<Config, 'secret'>): string {
  return hash('sha256', `client\0${secret}\0${normalizeIP(ip)}`, 'base64url').slice(0, 22);
}

const clientOf = (request: FastifyRequest, config: Config) => networkKey(request.ip, config);

function limited(ttlMs: number): AppError {
  const seconds = Math.max(1, Math.ceil(ttlMs / 1000));
  return errors.rate_limited(`Too many requests in one minute. Wait ${seconds} s.`, {
    nextAction: `Send the same request again after ${seconds} seconds.`,
    retryAfterSeconds: seconds,
  });
}

type Counted = (error: Error | null, result?: { current: number; ttl: number }) => void;

/** The plugin requires a class. All limiters use one table, with different keys. */
function counterStore({ em, clock, log }: Deps) {
  return class CounterStore {
    incr(key: string, done: Counted, lengthMs: number): void {
      count(key, lengthMs).then(
        (result) => done(null, result),
        (error: Error) => {
          log.warn({ err: error }, 'a rate limit could not be checked, so the request was allowed');
          done(error);
        },
      );
    }
    child(): CounterStore {
      return this;
    }
  };

  async function count(key: string, lengthMs: number): Promise<{ current: number; ttl: number }> {
    const now = clock.now();
    const end = new Date(now.getTime() + lengthMs);
    const [row] = await em().execute<[{ hits: number; resets_at: string | Date }]>(
      `insert into rate_limit as counter (key, hits, resets_at) values (?, 1, ?)
       on conflict (key) do update set
         hits = case when counter.resets_at <= ? then 1 else counter.hits + 1 end,
         resets_at = case when counter.resets_at <= ? then excluded.resets_at else counter.resets_at end
       returning hits, resets_at`,
      [key, end, now, now],
    );
    return { current: row.hits, ttl: new Date(row.resets_at).getTime() - now.getTime() };
  }
}
