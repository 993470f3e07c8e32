/**
 * Storage of `Idempotency-Key`. The id of the new resource, and the secret that the response will show, are stored
 * before the handler runs. If a request dies, the next one resumes with the same id, so nothing is created twice.
 */

import { createHash, randomBytes } from 'node:crypto';
import { typeid } from 'typeid-js';
import { IdempotencyKey } from '#db/idempotency-key.ts';
import { dayMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { decryptWith, deriveKey, encryptWith } from '#runtime/encryption.ts';
import { withRemedy } from '#runtime/errors.ts';
import type { ConcurrentReplays } from './replay-waiters.ts';

const keptMs = dayMs;
/** A running request renews its lease this often. Once the lease expires, the request is considered dead. */
export const renewalMs = 3_000;
const leaseMs = 12_000;

/** A request with a key. `bearer` encrypts the secret that is shown once. */
export type Repeatable = {
  accountId: string;
  method: string;
  path: string;
  key: string;
  body: unknown;
  bearer: string;
};

/**
 * `reservedId` is the resource id without its prefix. `secret` is the bytes of the secret that is shown once. `lease`
 * is the number of this run.
 */
export type Attempt = { scope: Buffer; reservedId: string; lease: number; secret: Buffer | undefined } & (
  | { state: 'first' }
  /** An earlier request with this key died or failed, possibly after it created its resource. */
  | { state: 'resumed' }
  /** An earlier request with this key created this resource. */
  | { state: 'answered'; resourceId: string }
);

type Memory = Pick<Deps, 'em' | 'clock'>;

/** How a request waits for a running one: together with others, until `stop`. */
export type Waiting = { replays: ConcurrentReplays; stop: AbortSignal };

/**
 * Returns whether the request must run or was answered before, after waiting for a running one. Throws
 * `idempotency_mismatch` if the key was used with a different body, or with a different token where the response shows a secret.
 * Throws `rate_limited` if the wait took too long.
 */
export async function begin(
  memory: Memory,
  call: Repeatable,
  { showsSecret, replays, stop }: Waiting & { showsSecret: boolean },
): Promise<Attempt> {
  const scope = digest([call.accountId, call.method, call.path, call.key]);
  const bodyHash = digest([call.body ?? {}]);
  const encryptionKey = deriveKey(call.bearer, `idempotency\0${call.key}`, scope);
  const name = scope.toString('hex');
  for (;;) {
    replays.requireRoom(name);
    const started = await start(memory, scope, bodyHash, showsSecret ? encryptionKey : undefined);
    if (started) return started;
    const row = await memory.em().findOne(IdempotencyKey, { scope });
    if (!row) continue;
    const isOther = !bodyHash.equals(row.bodyHash);
    const isOver = row.expiresAt <= memory.clock.now();
    // The stored response has expired, or the request failed and this one is different: the key can be reused.
    if (isOver && (row.resourceId || isOther)) {
      await memory.em().nativeDelete(IdempotencyKey, { scope, ...runOf(row), expiresAt: row.expiresAt });
      continue;
    }
    if (isOther)
      throw withRemedy(
        'idempotency_mismatch',
        'This Idempotency-Key has already been used with a different request body.',
      );
    const known = {
      scope,
      reservedId: row.reservedId,
      secret: row.sealed ? decryptSecret(encryptionKey, row.sealed) : undefined,
    };
    if (row.resourceId) return { ...known, lease: row.lease, state: 'answered', resourceId: row.resourceId };
    const lease = row.lease + 1;
    if (isOver && (await takeOver(memory, row, lease))) return { ...known, lease, state: 'resumed' };
    await replays.wait(name, () => isRunning(memory, row), stop);
  }
}

async function isRunning({ em, clock }: Memory, { scope }: IdempotencyKey): Promise<boolean> {
  return (await em().count(IdempotencyKey, { scope, resourceId: null, expiresAt: { $gt: clock.now() } })) > 0;
}

/** The condition of a query for this run. */
const runOf = ({ reservedId, lease }: { reservedId: string; lease: number }) => ({ reservedId, lease });

/** The condition of a query for the row, while this run has the lease. */
const ownOf = (attempt: Attempt) => ({ scope: attempt.scope, ...runOf(attempt), resourceId: null });

/** Stores the id for replays, for 24 hours. */
export async function keep({ em, clock }: Memory, attempt: Attempt, resourceId: string): Promise<void> {
  const expiresAt = new Date(clock.now().getTime() + keptMs);
  await em().nativeUpdate(IdempotencyKey, ownOf(attempt), { resourceId, expiresAt });
}

/** Deletes the key: the request was refused and created nothing. */
export async function free({ em }: Memory, attempt: Attempt): Promise<void> {
  await em().nativeDelete(IdempotencyKey, ownOf(attempt));
}

/**
 * Ends a run that may have created its resource. The same request resumes it at once with the same ids; a different
 * request can reuse the key.
 */
export async function releaseLease({ em, clock }: Memory, attempt: Attempt): Promise<void> {
  const ended = { lease: attempt.lease + 1, expiresAt: clock.now() };
  await em().nativeUpdate(IdempotencyKey, ownOf(attempt), ended);
}

export async function renew({ em, clock }: Memory, attempt: Attempt): Promise<void> {
  const expiresAt = new Date(clock.now().getTime() + leaseMs);
  await em().nativeUpdate(IdempotencyKey, ownOf(attempt), { expiresAt });
}

/** Deletes expired responses, and dead requests that were not resumed for a day. */
export async function sweepIdempotencyKeys({ em, clock }: Memory): Promise<number> {
  const before = new Date(clock.now().getTime() - keptMs);
  return await em().nativeDelete(IdempotencyKey, { expiresAt: { $lt: before } });
}

async function start(
  { em, clock }: Memory,
  scope: Buffer,
  bodyHash: Buffer,
  encryptionKey: Buffer | undefined,
): Promise<Attempt | undefined> {
  const now = clock.now();
  const reservedId = typeid().toString();
  const secret = encryptionKey && randomBytes(32);
  const sealed = encryptionKey && secret ? encryptWith(encryptionKey, secret) : null;
  const rows = await em().execute<unknown[]>(
    `insert into idempotency_key (scope, body_hash, reserved_id, sealed, created_at, expires_at) values (?, ?, ?, ?, ?, ?)
     on conflict (scope) do nothing returning reserved_id`,
    [scope, bodyHash, reservedId, sealed, now, new Date(now.getTime() + leaseMs)],
  );
  return rows.length > 0 ? { scope, reservedId, lease: 1, secret, state: 'first' } : undefined;
}

/** Of several waiting requests, only one resumes the dead one. */
async function takeOver({ em, clock }: Memory, row: IdempotencyKey, lease: number): Promise<boolean> {
  const expiresAt = new Date(clock.now().getTime() + leaseMs);
  const dead = { scope: row.scope, ...runOf(row), resourceId: null, expiresAt: row.expiresAt };
  return (await em().nativeUpdate(IdempotencyKey, dead, { lease, expiresAt })) === 1;
}

function digest(parts: unknown[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parts)).digest();
}

function decryptSecret(key: Buffer, encrypted: Uint8Array): Buffer {
  try {
    return decryptWith(key, encrypted);
  } catch {
    throw withRemedy(
      'idempotency_mismatch',
      'This Idempotency-Key was used with a different token. Only that token can retrieve the secret in the response again.',
    );
  }
}
