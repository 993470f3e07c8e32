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
  assetWrites: { each: 16, all: 64, refusal: 'Too many files are being received at the moment.' },
  /** Each may hold a process of git. */
  assetReads: { each: 8, all: 64, refusal: 'Too many files are being read at the moment.' },
  /** Each reads a whole site, and keeps its repositories on disk. */
  exports: { each: 2, all: 8, refusal: 'Too many sites are being exported at the moment.' },
  linkUploads: { each: 4, all: 64, refusal: tooManyPhotos },
  /** Over all links to an owner's sites. */
  ownerUploads: { each: 16, all: 64, refusal: tooManyPhotos },
  /** Each reads the database twice a second. */
  logStreams: { each: 16, all: 128, refusal: 'Too many build logs are being followed at the moment.' },
} as const;
const retryAfterSeconds = 5;

/** Runs the work of one call. Throws `rate_limited` before it, if too many are running under the key or in total. */
export type Limiter = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

/**
 * A call counts until its work has ended. Work that returns its reply ends when the response was sent or the client has
 * disconnected: that is what awaiting a reply waits for.
 */
export function limitConcurrency(kind: keyof typeof concurrent): Limiter {
  const { refusal, ...most } = concurrent[kind];
  const shares = createShares(most);
  return async (key, work) => {
    const release = shares.take(key);
    if (!release) {
      throw errors.rate_limited(refusal, {
        nextAction: `Send the same call again after ${retryAfterSeconds} seconds, with fewer at a time.`,
        retryAfterSeconds,
      });
    }
    try {
      return await work();
    } finally {
      release();
    }
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
