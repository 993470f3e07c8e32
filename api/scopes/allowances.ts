/** Calls that an owner allowed a token once, beyond its scope. */
import type { EntityManager } from '#db/orm.ts';
import { allowanceMs } from '#rules/periods.ts';
import type { PartOfScope } from '#rules/scopes.ts';
import type { Refusal } from './widening.ts';

/** A call of a token: its operation, and its path. */
export type NamedCall = { tokenId: string; operation: string; subject: string };
/** When a call used the allowance, and its idempotency key. */
export type Claim = { at: Date; key: string | undefined };
export type Allowance = { missing: PartOfScope; handsOn: PartOfScope };

type Row = { missing: PartOfScope; hands_on: PartOfScope };
const columns = 'missing, hands_on';
const which = 'token_id = ? and operation = ? and subject = ?';
const valuesOf = ({ tokenId, operation, subject }: NamedCall) => [tokenId, operation, subject];

/**
 * Allows the call once. What an earlier press allowed for the same call, and is still unused, stays allowed: a call may
 * lack two things and be refused twice.
 */
export async function allowOnce(tx: EntityManager, now: Date, refused: Refusal): Promise<void> {
  const { token, operation, subject, missing, handsOn } = refused;
  const parts = handsOn ? [{}, missing] : [missing, {}];
  await tx.execute(
    `insert into scope_allowance as one (token_id, operation, subject, missing, hands_on, created_at, expires_at)
     values (?, ?, ?, ?::jsonb, ?::jsonb, ?, ?)
     on conflict (token_id, operation, subject) do update set
       missing = case when one.used_at is null and one.expires_at > excluded.created_at
         then one.missing || excluded.missing else excluded.missing end,
       hands_on = case when one.used_at is null and one.expires_at > excluded.created_at
         then one.hands_on || excluded.hands_on else excluded.hands_on end,
       created_at = excluded.created_at, expires_at = excluded.expires_at, used_at = null, used_with = null`,
    [
      token,
      operation,
      subject,
      ...parts.map((part) => JSON.stringify(part)),
      now,
      new Date(now.getTime() + allowanceMs),
    ],
  );
}

/**
 * Uses the allowance for a call. `claimed` is true if no call used it before; the call then gives it back if it fails.
 * One more call with the same idempotency key may use it, because that returns the same response; then nothing is given back.
 */
export async function useAllowance(
  em: EntityManager,
  now: Date,
  call: NamedCall,
  key: string | undefined,
): Promise<(Allowance & { claimed: boolean }) | null> {
  const [claimed] = await em.execute<Row[]>(
    `update scope_allowance set used_at = ?, used_with = ? where ${which} and used_at is null and expires_at > ?
     returning ${columns}`,
    [now, key ?? null, ...valuesOf(call), now],
  );
  if (claimed) return { missing: claimed.missing, handsOn: claimed.hands_on, claimed: true };
  if (key === undefined) return null;
  const [repeated] = await em.execute<Row[]>(
    `update scope_allowance set used_with = null where ${which} and used_with = ? and expires_at > ? returning ${columns}`,
    [...valuesOf(call), key, now],
  );
  return repeated ? { missing: repeated.missing, handsOn: repeated.hands_on, claimed: false } : null;
}

/** The call that claimed the allowance then, with this key, failed, so it may be made again. */
export async function returnAllowance(em: EntityManager, call: NamedCall, { at, key }: Claim): Promise<void> {
  await em.execute(
    `update scope_allowance set used_at = null, used_with = null
     where ${which} and used_at = ? and used_with is not distinct from ?`,
    [...valuesOf(call), at, key ?? null],
  );
}
