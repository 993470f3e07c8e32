/** The owner's side of an access request: reading it, approving it with the agent's code, denying it. */
import { LockMode } from '@mikro-orm/core';
import { payoutsPower, requireSettledAddress } from '#api/accounts/address-hold.ts';
import { requireNotStopped } from '#api/accounts/blocked.ts';
import { accountOfAddress } from '#api/accounts/rules.ts';
import { hashSecret } from '#api/secrets.ts';
import { AccessRequest } from '#db/auth/access-request.ts';
import { endOf, type RequestEnd, signalAccessRequest } from '#db/auth/access-request-expiry.ts';
import type { EntityManager } from '#db/orm.ts';
import { accessRequestMs } from '#rules/periods.ts';
import { type AccessRequestStatus, accessRequestStatusAt } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { isId } from '#runtime/ids.ts';
import { checkCode } from './codes.ts';
import { recordFailedCodes } from './failed-codes.ts';
import { type ScopeChoice, scopeChosen } from './scope-choice.ts';

/** Identifies a request: by the e-mailed link, or by its id for a signed-in owner. */
export type Which = { link: string } | { id: string; email: string };

/** Throws `not_found`. */
export async function loadRequest(em: EntityManager, which: Which): Promise<AccessRequest> {
  return (await em.findOne(AccessRequest, conditionOf(which))) ?? noSuchRequest();
}

/** The page lists at most this many, so that a flood of requests does not fill it. */
const shownMax = 100;

/** Open requests for the address, newest first. */
export async function openRequests(em: EntityManager, now: Date, email: string): Promise<AccessRequest[]> {
  return await em.find(
    AccessRequest,
    { email, status: 'pending', expiresAt: { $gt: now } },
    { orderBy: { id: 'desc' }, limit: shownMax },
  );
}

export type Answer = { approve: true; code: string; choice: ScopeChoice } | { approve: false };
export type Answered =
  | { outcome: 'approved'; hasAccount: boolean }
  | { outcome: 'denied' }
  /** The request is still open; the code was wrong. */
  | { outcome: 'wrong_code'; triesLeft: number }
  /** The request was already closed, or this wrong code was the last allowed one. */
  | { outcome: 'over'; status: AccessRequestStatus; end: RequestEnd };

/**
 * Answers the request, once. The first approval for an address creates its account where the platform allows that.
 * Throws `not_found`, `address_change_pending`, `account_deleting`, and `access_denied` where the account is blocked.
 */
export async function answerRequest(em: EntityManager, deps: Deps, which: Which, answer: Answer): Promise<Answered> {
  return await em.transactional(async (tx) => {
    const request = await tx.findOne(AccessRequest, conditionOf(which), { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!request) return noSuchRequest();
    const status = accessRequestStatusAt(request, deps.clock.now());
    if (status !== 'pending') return { outcome: 'over', status, end: endOf(request) };
    const answered = await decide(tx, deps, request, answer);
    if (request.status !== 'pending') signalAccessRequest(tx, deps.clock, request.id);
    return answered;
  });
}

async function decide(tx: EntityManager, deps: Deps, request: AccessRequest, answer: Answer): Promise<Answered> {
  const now = deps.clock.now();
  if (answer.approve) {
    const checked = checkCode(deps.config.secret, request, answer.code);
    if (!checked.isRight) return await afterWrongCode(tx, deps, request, checked.triesLeft);
  }
  request.answeredAt = now;
  if (!answer.approve) {
    request.status = 'denied';
    return { outcome: 'denied' };
  }
  const { email, accountName } = request;
  const account = await accountOfAddress(tx, deps, { email, name: accountName ?? undefined });
  if (account) requireNotStopped(account);
  if (account && answer.choice.payouts) await requireSettledAddress(tx, deps.clock, account.id, payoutsPower);
  request.account = account;
  request.scope = request.account ? await scopeChosen(tx, request.account.id, answer.choice) : null;
  request.status = 'approved';
  request.expiresAt = new Date(now.getTime() + accessRequestMs);
  return { outcome: 'approved', hasAccount: request.account !== null };
}

async function afterWrongCode(
  tx: EntityManager,
  { clock }: Deps,
  request: AccessRequest,
  triesLeft: number,
): Promise<Answered> {
  if (triesLeft > 0) return { outcome: 'wrong_code', triesLeft };
  request.status = 'expired';
  request.endReason = 'wrong_codes';
  await recordFailedCodes(tx, clock, 'account.access_request_failed', { email: request.email });
  return { outcome: 'over', status: 'expired', end: endOf(request) };
}

function conditionOf(which: Which) {
  if ('link' in which) return { linkHash: hashSecret(which.link) };
  return isId('areq', which.id) ? which : noSuchRequest();
}

function noSuchRequest(): never {
  throw errors.not_found('This link is not valid, or its access request has expired.');
}
