/** Agents' feedback about the platform. */

import type { Actor } from '#api/access.ts';
import { newestFirst } from '#api/pagination.ts';
import { Account } from '#db/accounts/account.ts';
import { dayOf } from '#db/accounts/daily-quota.ts';
import { lockAccount } from '#db/accounts/lock.ts';
import { Feedback } from '#db/feedback/feedback.ts';
import type { EntityManager } from '#db/orm.ts';
import { feedbackStatuses } from '#rules/feedback.ts';
import { limitsOf } from '#rules/plan-limits.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { isId } from '#runtime/ids.ts';
import { contextBytesMax, type FeedbackInput, messageLengthMax } from './schemas.ts';

/** Stores a note. Throws `message_too_long`, `context_too_large`, and `rate_limited` after the daily limit. */
export async function fileFeedback(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  { id, kind, message, context }: FeedbackInput & { id: string },
): Promise<Feedback> {
  const written = context === undefined ? null : JSON.stringify(context);
  requireSizes(message, written);
  return await em.transactional(async (tx) => {
    await requireRoom(tx, deps, actor.accountId);
    return tx.create(Feedback, {
      id,
      account: tx.getReference(Account, actor.accountId),
      kind,
      message,
      context: written,
      createdAt: deps.clock.now(),
    });
  });
}

/** A note of the caller's account. Throws `not_found`. */
export async function loadFeedback(em: EntityManager, actor: Actor, id: string): Promise<Feedback> {
  const note = isId('note', id) ? await em.findOne(Feedback, { id, account: actor.accountId }) : null;
  if (note) return note;
  throw errors.not_found('No feedback from this account has this id.');
}

/** The notes of the caller's account, newest first. */
export const feedbackOf = (em: EntityManager, actor: Actor) => newestFirst(em, Feedback, { account: actor.accountId });

/** Records what became of a note, for operators. Throws `not_found` and `invalid_status`. */
export async function answerFeedback(
  em: EntityManager,
  clock: Clock,
  { id, status, answer }: { id: string; status: string; answer: string | null },
): Promise<Feedback> {
  const known = feedbackStatuses.find((one) => one === status);
  if (!known) throw errors.invalid_status(`--status must be one of ${feedbackStatuses.join(', ')}.`);
  const note = await em.findOne(Feedback, { id });
  if (!note) throw errors.not_found('There is no feedback with this id.');
  Object.assign(note, { status: known, answer, answeredAt: known === 'open' ? null : clock.now() });
  await em.flush();
  return note;
}

/** Notes since a time and after an id, oldest first, for operators. */
export async function listFeedback(
  em: EntityManager,
  { since, after, limit }: { since: Date; after: string; limit: number },
) {
  const notes = await em.find(
    Feedback,
    { createdAt: { $gte: since }, id: { $gt: after } },
    { orderBy: { id: 'asc' }, limit, populate: ['account'] },
  );
  return notes.map(({ id, account, kind, status, message, answer, context, createdAt }) => ({
    id,
    created_at: createdAt.toISOString(),
    account_id: account.id,
    account_name: account.name,
    kind,
    status,
    message,
    answer: answer ?? null,
    context: context === null || context === undefined ? null : JSON.parse(context),
  }));
}

function requireSizes(message: string, context: string | null): void {
  if (message.length > messageLengthMax) {
    throw errors.message_too_long(`The message has ${message.length} characters; the limit is ${messageLengthMax}.`, {
      nextAction: 'Shorten the message, and put the API call and its response in `context`.',
    });
  }
  const bytes = context === null ? 0 : Buffer.byteLength(context);
  if (bytes > contextBytesMax) {
    throw errors.context_too_large(`The context is ${bytes} bytes of JSON; the limit is ${contextBytesMax}.`, {
      nextAction: 'Send only the part that shows the problem: the call, its response and the request_id.',
    });
  }
}

async function requireRoom(tx: EntityManager, deps: Deps, accountId: string): Promise<void> {
  const limit = limitsOf(deps.config, await lockAccount(tx, accountId), deps.clock.now()).feedback_per_day;
  const now = deps.clock.now();
  const { day, resetsAt } = dayOf(now);
  const filed = await tx.count(Feedback, { account: accountId, createdAt: { $gte: new Date(`${day}T00:00:00Z`) } });
  if (filed < limit) return;
  throw errors.rate_limited(`This account has reached its limit of ${limit} feedback messages per day.`, {
    nextAction: `Save the message, and send it after ${resetsAt.toISOString()}.`,
    retryAfterSeconds: Math.max(1, Math.ceil((resetsAt.getTime() - now.getTime()) / 1000)),
  });
}
