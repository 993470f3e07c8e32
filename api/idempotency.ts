/**
 * The memory of `Idempotency-Key`. What a call will make (the resource's id, and the secret it will show) is written down before the
 * call runs. So a call that died half-way is taken up by the next one with the same id, and nothing is ever made twice.
 */
import { createHash, randomBytes } from 'node:crypto';
import { typeid } from 'typeid-js';
import { IdempotencyKey } from '#db/idempotency-key.ts';
import type { Deps } from '#runtime/deps.ts';
import { decryptWith, deriveKey, encryptWith } from '#runtime/encryption.ts';
import { errors } from '#runtime/errors.ts';
import type { ConcurrentReplays } from './replay-waiters.ts';

const keptMs = 24 * 60 * 60 * 1000;
/** A running call says this often that it lives, and is taken for dead when it has not for the length of the lease. */
export const renewalMs = 3_000;
const leaseMs = 12_000;

/** What a caller repeats. `bearer` encrypts the secret that is shown once. */
export type Repeatable = {
  accountId: string;
  method: string;
  path: string;
  key: string;
  body: unknown;
  bearer: string;
};

/** `reservedId` is the resource id without its prefix, `secret` the bytes of what is shown once, `lease` the number of this run of the call. */
export type Attempt = { scope: Buffer; reservedId: string; lease: number; secret: Buffer | undefined } & (
  | { state: 'first' }
  /** An earlier call with this key died or failed, perhaps after it had made its resource. */
  | { state: 'resumed' }
  /** The call was answered before, with this resource. */
  | { state: 'answered'; resourceId: string }
);

type Memory = Pick<Deps, 'em' | 'clock'>;

/** How one that runs is waited for: together with others, until `stop`. */
export type Waiting = { replays: ConcurrentReplays; stop: AbortSignal };

/**
 * Says whether the call is to run or was answered, after waiting for one that runs. Throws `idempotency_mismatch` when the key was
 * used with another body, or by another token where a secret is shown, and `rate_limited` when it has waited for as long as it may.
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
    // An answer past its time, or a call that failed: the key is free for another.
    if (isOver && (row.resourceId || isOther)) {
      await memory.em().nativeDelete(IdempotencyKey, { scope, ...runOf(row), expiresAt: row.expiresAt });
      continue;
    }
    if (isOther) throw errors.idempotency_mismatch('This Idempotency-Key was used with another body.');
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

/** This run of the call and no other, in a question to the database. */
const runOf = ({ reservedId, lease }: { reservedId: string; lease: number }) => ({ reservedId, lease });

/** The row of a call, for as long as the call is this one's to run. */
const ownOf = (attempt: Attempt) => ({ scope: attempt.scope, ...runOf(attempt), resourceId: null });

/** Keeps the answer for 24 hours. */
export async function keep({ em, clock }: Memory, attempt: Attempt, resourceId: string): Promise<void> {
  const expiresAt = new Date(clock.now().getTime() + keptMs);
  await em().nativeUpdate(IdempotencyKey, ownOf(attempt), { resourceId, expiresAt });
}

/** Leaves the key free: a refusal is not kept, and nothing was made. */
export async function free({ em }: Memory, attempt: Attempt): Promise<void> {
  await em().nativeDelete(IdempotencyKey, ownOf(attempt));
}

/** Ends a run of which nobody knows what it made: the same call takes it up at once, under the same ids, and another one is free to come. */
export async function releaseLease({ em, clock }: Memory, attempt: Attempt): Promise<void> {
  const ended = { lease: attempt.lease + 1, expiresAt: clock.now() };
  await em().nativeUpdate(IdempotencyKey, ownOf(attempt), ended);
}

/** Says that the call still runs. */
export async function renew({ em, clock }: Memory, attempt: Attempt): Promise<void> {
  const expiresAt = new Date(clock.now().getTime() + leaseMs);
  await em().nativeUpdate(IdempotencyKey, ownOf(attempt), { expiresAt });
}

/** Removes what is over for good: answers past their time, and calls that died and that nobody took up for a day. */
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

/** Of several that wait for a dead call, one goes on with it. */
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
    throw errors.idempotency_mismatch(
      'This Idempotency-Key was used by another token, and only that token can receive its secret response again.',
    );
  }
}
