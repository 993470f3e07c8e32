/**
 * Calls that hold memory, a process or a poll of the database for as long as their client takes. Each kind is limited
 * for each account or link, and in this process.
 */
import type { FastifyReply } from 'fastify';
import { errors } from '#runtime/errors.ts';
import { createShares } from '#runtime/shares.ts';

const tooManyPhotos = 'Too many photos are being sent at the moment. Please send this one again in a few seconds.';

/** Calls at a time. They protect memory and processes, so `FRONTAGE_RATE_SCALE` does not change them. */
export const concurrent = {
  /** Each may hold a part of 8 MiB that is sent to the store. */
  outputFiles: { each: 16, all: 64, refusal: 'Too many files are being received at the moment.' },
  /** Each may keep a whole zip on disk, and eight files of 1 MiB in memory. */
  archives: { each: 2, all: 8, refusal: 'Too many archives are being received at the moment.' },
  assetWrites: { each: 16, all: 64, refusal: 'Too many files are being received at the moment.' },
  /** Each may hold a process of git. */
  assetReads: { each: 8, all: 64, refusal: 'Too many files are being read at the moment.' },
  /** Each reads a whole site, and keeps its repositories on disk. */
  exports: { each: 2, all: 8, refusal: 'Too many sites are being exported at the moment.' },
  linkUploads: { each: 4, all: Number.POSITIVE_INFINITY, refusal: tooManyPhotos },
  /** Over all links to an owner's sites: the limit of all links together. */
  ownerUploads: { each: 16, all: 64, refusal: tooManyPhotos },
  /** Each reads the database twice a second. */
  logStreams: { each: 16, all: 128, refusal: 'Too many build logs are being followed at the moment.' },
} as const;
const retryAfterSeconds = 5;

/** Runs the work of one call. Throws `rate_limited` if too many are running under the key or in total. */
export type Limiter = <Result>(key: string, reply: FastifyReply, work: () => Promise<Result>) => Promise<Result>;

/**
 * A call counts until its work has ended. Work that returns its reply ends when the response was sent or the client has
 * disconnected: that is what awaiting a reply waits for. If too many are running in total, a call of an account with
 * few of them ends one that waits for its client, of the account with the most.
 */
export function limitConcurrency(kind: keyof typeof concurrent): Limiter {
  const { refusal, ...most } = concurrent[kind];
  const shares = createShares(most);
  const tooMany = () =>
    errors.rate_limited(refusal, {
      nextAction: `Send the same call again after ${retryAfterSeconds} seconds, with fewer at a time.`,
      retryAfterSeconds,
    });
  return async (key, reply, work) => {
    const ended = Promise.withResolvers<never>();
    const release = shares.take(key, {
      canEnd: () => reply.raw.headersSent || !reply.request.raw.complete,
      end() {
        if (reply.raw.headersSent) return void reply.raw.destroy();
        // Node closes the connection after the response, which ends the work.
        reply.header('connection', 'close');
        ended.reject(tooMany());
      },
    });
    if (!release) throw tooMany();
    return await Promise.race([work().finally(release), ended.promise]);
  };
}

/** Aborts when the response has ended or the client has disconnected. */
export function disconnectSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => gone.abort());
  // The client may have disconnected during authentication.
  if (raw.destroyed) gone.abort();
  return gone.signal;
}
