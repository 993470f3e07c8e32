/** Refused calls that wait for the owner: recorded once for each token, operation and subject, and listed in the inbox. */

import { isDeepStrictEqual } from 'node:util';
import type { FilterQuery } from '@mikro-orm/core';
import { type RefusalAnswer, RefusedCall } from '#db/auth/refused-call.ts';
import type { EntityManager } from '#db/orm.ts';
import { lockInTransaction } from '#db/transaction-lock.ts';
import { lackingIn } from '#rules/scopes.ts';
import { hourMs } from '#rules/time.ts';
import { newId } from '#runtime/ids.ts';
import type { Refusal } from './widening.ts';

/** A further refused call of the token gets its link, and is not listed. */
const perToken = 10;
/** At most this many are listed at a time. */
const shownMax = 200;
/** A call that is refused again within this time changes nothing. */
const quietMs = hourMs;

/**
 * Records a refused call. One that the owner has refused is not listed again while its link is valid; one that they
 * allowed, or that lacks something else now, is.
 */
export async function recordRefusal(
  em: EntityManager,
  now: Date,
  { accountId, refused }: { accountId: string; refused: Refusal },
): Promise<void> {
  const { token, operation, subject } = refused;
  const same = { token, operation, subject };
  const known = await em.findOne(RefusedCall, same);
  if (known && isKnown(known, refused, now)) return;
  await em.transactional(async (tx) => {
    // So that concurrent calls are counted one after the other.
    await lockInTransaction(tx, `refused calls of ${token}`);
    const found = await tx.findOne(RefusedCall, same, { refresh: true });
    if (found && isKnown(found, refused, now)) return;
    const { summary, missing, handsOn = false } = refused;
    const content = { summary, missing, handsOn, answer: null, expiresAt: new Date(refused.until) };
    const isWaiting = found !== null && found.answer === null && found.expiresAt > now;
    if (!isWaiting && (await waitingCount(tx, now, token)) >= perToken) return;
    if (!found) tx.create(RefusedCall, { ...same, ...content, id: newId('ask'), account: accountId, createdAt: now });
    else tx.assign(found, isWaiting && isSame(found, refused) ? content : { ...content, createdAt: now });
  });
}

async function waitingCount(tx: EntityManager, now: Date, token: string): Promise<number> {
  return await tx.count(RefusedCall, { token, answer: null, expiresAt: { $gt: now } });
}

/** Whether recording it would change nothing that anybody sees. */
function isKnown(known: RefusedCall, refused: Refusal, now: Date): boolean {
  if (known.expiresAt <= now || !isSame(known, refused)) return false;
  if (known.answer !== null) return known.answer === 'refused';
  return refused.until - known.expiresAt.getTime() < quietMs;
}

function isSame(known: RefusedCall, { missing, handsOn }: Refusal): boolean {
  return known.handsOn === (handsOn === true) && isDeepStrictEqual(known.missing, missing);
}

/**
 * Calls of the account's tokens that wait for its owner, newest first, of those that match `more`. A token that got what a call needs
 * by another answer waits no longer.
 */
export async function waitingRefusals(
  em: EntityManager,
  now: Date,
  accountId: string,
  more: FilterQuery<RefusedCall> = {},
) {
  const alive = { revokedAt: null, $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }] };
  const found = await em.find(
    RefusedCall,
    { $and: [{ account: accountId, answer: null, expiresAt: { $gt: now }, token: alive }, more] },
    { populate: ['token'], orderBy: { createdAt: 'desc' }, limit: shownMax },
  );
  return found.filter(({ token, missing }) => lackingIn(token.scope, missing) !== null);
}

/** A refused call as its link names it. */
export function refusalOf({ token, operation, subject, summary, missing, handsOn, expiresAt }: RefusedCall): Refusal {
  const more = handsOn ? { handsOn: true as const } : {};
  return { token: token.id, operation, subject, summary, missing, ...more, until: expiresAt.getTime() };
}

/** The owner's answer to what the link names. */
export async function answerRefusal(tx: EntityManager, refused: Refusal, answer: RefusalAnswer): Promise<void> {
  const { token, operation, subject } = refused;
  const known = await tx.findOne(RefusedCall, { token, operation, subject, answer: null });
  if (known && isSame(known, refused)) known.answer = answer;
  await tx.flush();
}
