/** An agent's side of an access request: creating it, and redeeming it after the owner's approval. */

import { LockMode } from '@mikro-orm/core';
import { blockOfAddress, requireNotDeleting, requireNotStopped } from '#api/accounts/blocked.ts';
import { networkKey } from '#api/plugins/rate-limit.ts';
import { hashSecret } from '#api/secrets.ts';
import { issueTokenWithinLimit } from '#api/tokens/rules.ts';
import { Account } from '#db/accounts/account.ts';
import { lockAccount } from '#db/accounts/lock.ts';
import { AccessRequest } from '#db/auth/access-request.ts';
import { endOf, type RequestEnd, signalAccessRequest } from '#db/auth/access-request-expiry.ts';
import type { Token } from '#db/auth/token.ts';
import { lockAddress } from '#db/mail/limits.ts';
import { queueMail } from '#db/mail/queue.ts';
import type { EntityManager } from '#db/orm.ts';
import { startWorkflow } from '#db/workflow-messages.ts';
import { call } from '#rules/calls/calls.ts';
import { accessRequestMs, period } from '#rules/periods.ts';
import { usualScope } from '#rules/scopes.ts';
import { accessRequestStatusAt } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { isId, newId, newSecret } from '#runtime/ids.ts';
import { hashCode, newUserCode } from './codes.ts';
import { hasEnoughRequestMails, limitAccessRequests } from './rate-limits.ts';

/** The minimum number of seconds between two polls of an agent. */
export const intervalSeconds = 5;

export type AccessRequestInput = {
  email: string;
  agentName: string;
  accountName: string | undefined;
  /** The client's network address. */
  askedFrom: string;
};
export type NewAccessRequest = { request: AccessRequest; secret: string; userCode: string };

/**
 * Creates a request and e-mails its link to the address, whether or not it has an account. Earlier requests stay open:
 * a stranger's must not end the owner's. An address that has received too many e-mails gets none; its owner finds the
 * request on the account page. Throws `rate_limited`.
 */
export async function askForAccess(em: EntityManager, deps: Deps, wish: AccessRequestInput): Promise<NewAccessRequest> {
  const { clock, config } = deps;
  const [id, secret, link, userCode] = [newId('areq'), newSecret('frq'), newSecret('fra'), newUserCode()];
  const network = networkKey(wish.askedFrom, config);
  return await em.transactional(async (tx) => {
    const now = clock.now();
    await lockAddress(tx, wish.email);
    await limitAccessRequests(tx, deps, { email: wish.email, network });
    const mailed = !(await hasEnoughRequestMails(tx, deps, wish.email));
    const expiresAt = new Date(now.getTime() + accessRequestMs);
    const request = tx.create(AccessRequest, {
      ...wish,
      id,
      network,
      mailed,
      accountName: wish.accountName ?? null,
      codeHash: hashCode(config.secret, id, userCode),
      secretHash: hashSecret(secret),
      linkHash: hashSecret(link),
      status: 'pending',
      createdAt: now,
      expiresAt,
    });
    if (mailed) await mailRequest(tx, deps, request, `${config.baseUrl}/access/${link}`);
    startWorkflow(tx, clock, 'grantAccess', { requestId: id }, { summary: 'An agent requests access' });
    return { request, secret, userCode };
  });
}

/** The agent must not learn the state of an account that it has no access to, so only the owner learns of a block. */
async function mailRequest(tx: EntityManager, deps: Deps, request: AccessRequest, link: string): Promise<void> {
  const { email: to, agentName, askedFrom, expiresAt: until } = request;
  const reason = await blockOfAddress(tx, to);
  if (reason === null) queueMail(tx, deps, { kind: 'access-request', to, data: { link, agentName, askedFrom }, until });
  else queueMail(tx, deps, { kind: 'account-blocked', to, data: { reason }, until });
}

export type Redeemed =
  | { status: 'pending'; expiresAt: Date }
  | { status: 'approved'; token: Token; accessToken: string };

/**
 * Issues the token of an approved request, once: concurrent calls wait for the lock on its row. Throws `not_found`,
 * `access_denied`, `account_deleting`, `expired`, `already_redeemed`, `signin_unavailable`, `rate_limited`, `plan_limit`.
 */
export async function redeem(em: EntityManager, deps: Deps, id: string, secret: string): Promise<Redeemed> {
  const which = { id, secretHash: hashSecret(secret) };
  const options = { populate: ['account'], disableIdentityMap: true } as const;
  const seen = isId('areq', id) ? await em.findOne(AccessRequest, which, options) : null;
  if (!seen) throw errors.not_found('No access request has this id and secret.', askAgain);
  // Its owner approved the request, so the agent may learn this.
  if (seen.account) requireNotDeleting(seen.account);
  requireUnsettled(seen, deps.clock.now());
  return await em.transactional(async (tx) => {
    const request = await tx.findOneOrFail(AccessRequest, which, { lockMode: LockMode.PESSIMISTIC_WRITE });
    const now = deps.clock.now();
    const status = requireUnsettled(request, now);
    if (status === 'approved') return { status, ...(await issueFor(tx, deps, request)) };
    countPoll(request, now);
    return { status, expiresAt: request.expiresAt };
  });
}

/** Throws `access_denied`, `expired`, `already_redeemed` where polling can no longer succeed. */
function requireUnsettled(request: AccessRequest, now: Date): 'pending' | 'approved' {
  const status = accessRequestStatusAt(request, now);
  if (status === 'pending' || status === 'approved') return status;
  throw status === 'expired' ? errors.expired(ends[endOf(request)], askAgain) : refusals[status]();
}

const askAgain = { nextAction: `Create a new request with ${call('access.request')}.` };

const refusals = {
  denied: () =>
    errors.access_denied('The owner refused the access request.', {
      nextAction: 'Do not request access again unless the owner asks you to.',
    }),
  redeemed: () =>
    errors.already_redeemed('This access request has already been redeemed.', {
      nextAction: `Use the token that was already issued. If you have lost it, create a new request with ${call('access.request')}.`,
    }),
};

const ends: Record<RequestEnd, string> = {
  unanswered: `The owner did not answer the access request within ${period(accessRequestMs)}.`,
  not_redeemed: `The owner approved the access request, but it was not redeemed within ${period(accessRequestMs)}.`,
  wrong_codes: 'The access request ended because a wrong code was entered five times.',
  address_changed: 'The access request ended because the owner has changed their e-mail address.',
};

async function issueFor(
  tx: EntityManager,
  deps: Deps,
  request: AccessRequest,
): Promise<{ token: Token; accessToken: string }> {
  if (!request.account) {
    throw errors.signin_unavailable(
      'The owner approved the request, but no account has this e-mail address, and this platform does not create accounts automatically.',
      {
        nextAction: 'Ask the owner for the e-mail address of their account, or ask the operator to create an account.',
      },
    );
  }
  // Under the lock, so that an undone change of address leaves no token.
  await lockAccount(tx, request.account.id);
  const account = await tx.findOneOrFail(Account, { id: request.account.id }, { refresh: true });
  requireNotStopped(account);
  if (account.email !== request.email) throw errors.expired(ends.address_changed, askAgain);
  const accessToken = newSecret('fro');
  const token = await issueTokenWithinLimit(tx, deps, account.id, {
    secret: accessToken,
    name: request.agentName,
    scope: request.scope ?? usualScope,
  });
  request.status = 'redeemed';
  request.token = token;
  signalAccessRequest(tx, deps.clock, request.id);
  return { token, accessToken };
}

/** Throws `rate_limited` if the last poll is more recent than the interval. */
function countPoll(request: AccessRequest, now: Date): void {
  const next = (request.lastPolledAt?.getTime() ?? 0) + intervalSeconds * 1000;
  if (now.getTime() < next) {
    const seconds = Math.ceil((next - now.getTime()) / 1000);
    throw errors.rate_limited(`The owner has not answered yet. Poll at most once every ${intervalSeconds} seconds.`, {
      nextAction: `Send the same request again in ${seconds} seconds.`,
      retryAfterSeconds: seconds,
    });
  }
  request.lastPolledAt = now;
}
