/** Signing in with an e-mailed link. */

import { randomBytes } from 'node:crypto';
import { LockMode } from '@mikro-orm/core';
import { isReserved } from '#api/accounts/address-hold.ts';
import { blockOfAddress, requireNotBlocked } from '#api/accounts/blocked.ts';
import { accountOfAddress } from '#api/accounts/rules.ts';
import { networkKey } from '#api/plugins/rate-limit.ts';
import { hashSecret } from '#api/secrets.ts';
import { Account } from '#db/accounts/account.ts';
import { BrowserSession } from '#db/auth/browser-session.ts';
import { SigninLink } from '#db/auth/signin-link.ts';
import { lockAddress } from '#db/mail/limits.ts';
import { queueMail } from '#db/mail/queue.ts';
import type { EntityManager } from '#db/orm.ts';
import { browserName } from '#rules/browser-names.ts';
import { signinCodeMs, signinLinkMs } from '#rules/periods.ts';
import { dayMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { isId, newId, newSecret } from '#runtime/ids.ts';
import { checkCode, hashCode, isSpent, sixDigits } from './codes.ts';
import { recordFailedCodes } from './failed-codes.ts';
import { limitSigninLinks } from './rate-limits.ts';

const sessionMs = 14 * dayMs;
/** From the request to the last moment at which a code of its link works. */
export const signinMs = signinLinkMs + signinCodeMs;

/** The browser that requests a link: the secret of its cookie, its header `User-Agent`, its network address. */
export type AskingBrowser = { secret: string; userAgent: string | undefined; address: string };

/**
 * E-mails a link to the address. Where accounts cannot be created, an address without an account gets an e-mail that
 * says so; a blocked account gets the reason. The response is the same in all cases: the id of the sign-in, for the
 * browser that requested it. Throws `rate_limited`.
 */
export async function mailLink(
  em: EntityManager,
  deps: Deps,
  email: string,
  { secret: browser, userAgent, address }: AskingBrowser,
): Promise<string> {
  const { clock, config } = deps;
  const network = networkKey(address, config);
  const [id, secret, askedBrowser] = [newId('link'), newSecret('frl'), browserName(userAgent)];
  await em.transactional(async (tx) => {
    const now = clock.now();
    const expiresAt = new Date(now.getTime() + signinLinkMs);
    await lockAddress(tx, email);
    await limitSigninLinks(tx, deps, { email, network });
    tx.create(SigninLink, {
      id,
      email,
      hash: hashSecret(secret),
      browserHash: hashSecret(browser),
      askedBrowser,
      askedFrom: address,
      network,
      codeHash: randomBytes(32),
      createdAt: now,
      expiresAt,
    });
    const canOpen = config.signUp === 'open' && !(await isReserved(tx, now, email));
    const known = canOpen || (await tx.count(Account, { email, purgedAt: null })) > 0;
    const asker = { browser: askedBrowser, address };
    const data = { link: known ? `${config.baseUrl}/signin/${secret}` : null, asker };
    const reason = await blockOfAddress(tx, email);
    // Only the reader of the e-mail learns that the account is blocked.
    if (reason === null) queueMail(tx, deps, { kind: 'signin-link', to: email, data, until: expiresAt });
    else queueMail(tx, deps, { kind: 'account-blocked', to: email, data: { reason }, until: expiresAt });
  });
  return id;
}

/** Names a link: by the e-mailed secret, or for the browser that requested it by the id and the secret of its cookie. */
export type WhichLink = { secret: string } | { id: string; browser: string };

/** The link, and whether it still signs in. Throws `not_found`. */
export async function readLink(
  em: EntityManager,
  { clock }: Pick<Deps, 'clock'>,
  which: WhichLink,
): Promise<{ link: SigninLink; isUsable: boolean }> {
  const link = (await em.findOne(SigninLink, conditionOf(which))) ?? noSuchLink(which);
  return { link, isUsable: isUsable(link, which, clock.now()) };
}

/** Whether this browser requested the link. */
export function isAskingBrowser({ browserHash }: SigninLink, browser: string | null): boolean {
  return browser !== null && hashSecret(browser).equals(browserHash);
}

type Over = { outcome: 'over' };
export type SignedIn = { outcome: 'signed_in'; session: string; expiresAt: Date } | Over;
export type CodeShown = { outcome: 'shown'; code: string; link: SigninLink } | Over;
export type CodeTyped = SignedIn | { outcome: 'wrong_code'; triesLeft: number } | { outcome: 'code_expired' };

/**
 * Signs in the browser that opened the link, once. Throws `not_found`, and `access_denied` where the account is blocked.
 */
export async function useLink(em: EntityManager, deps: Deps, secret: string): Promise<SignedIn> {
  return await withLink(em, deps, { secret }, (tx, link) => signIn(tx, deps, link));
}

/**
 * The code for the browser that requested the link. It is valid for ten minutes, in which showing it again returns the
 * same one: a scanner that presses the button does not make the person’s code invalid. Throws `not_found`.
 */
export async function showCode(em: EntityManager, deps: Deps, secret: string): Promise<CodeShown> {
  const { clock, config } = deps;
  return await withLink<CodeShown>(em, deps, { secret }, async (_tx, link) => {
    const now = clock.now();
    if (!link.codeExpiresAt || link.codeExpiresAt <= now) link.codeExpiresAt = new Date(now.getTime() + signinCodeMs);
    const code = sixDigits(config.secret, link.id, link.codeExpiresAt);
    link.codeHash = hashCode(config.secret, link.id, code);
    return { outcome: 'shown', code, link };
  });
}

/**
 * Signs in the browser that requested the link, once, with the code that the link's page shows. A code is compared with
 * that one link alone. Throws `not_found` for other browsers, and `access_denied` where the account is blocked.
 */
export async function typeCode(
  em: EntityManager,
  deps: Deps,
  { id, browser, typed }: { id: string; browser: string; typed: string },
): Promise<CodeTyped> {
  return await withLink<CodeTyped>(em, deps, { id, browser }, async (tx, link) => {
    if (link.codeExpiresAt && link.codeExpiresAt <= deps.clock.now()) return { outcome: 'code_expired' };
    const checked = checkCode(deps.config.secret, link, typed);
    if (checked.isRight) return await signIn(tx, deps, link);
    const { triesLeft } = checked;
    if (triesLeft === 0) await recordFailedCodes(tx, deps.clock, 'account.signin_failed', { email: link.email });
    return { outcome: 'wrong_code', triesLeft };
  });
}

/** Locks the link, so that it signs in one browser and concurrent codes are counted one after the other. */
async function withLink<Result>(
  em: EntityManager,
  { clock }: Deps,
  which: WhichLink,
  act: (tx: EntityManager, link: SigninLink) => Promise<Result>,
): Promise<Result | Over> {
  return await em.transactional(async (tx) => {
    const link = await tx.findOne(SigninLink, conditionOf(which), {
      lockMode: LockMode.PESSIMISTIC_WRITE,
      refresh: true,
    });
    if (!link) return noSuchLink(which);
    return isUsable(link, which, clock.now()) ? await act(tx, link) : { outcome: 'over' };
  });
}

async function signIn(tx: EntityManager, deps: Deps, link: SigninLink): Promise<SignedIn> {
  const account = await accountOfAddress(tx, deps, { email: link.email });
  // The address had an account when the link was sent, and no longer has one.
  if (!account) return { outcome: 'over' };
  // An account under deletion too: its owner signs in to restore it.
  requireNotBlocked(account);
  link.endedAt = deps.clock.now();
  return openSession(tx, deps, account);
}

/** The session with this secret, with its account. */
export async function readSession(
  em: EntityManager,
  clock: Deps['clock'],
  cookie: string,
): Promise<BrowserSession | null> {
  return await em.findOne(
    BrowserSession,
    { hash: hashSecret(cookie), expiresAt: { $gt: clock.now() } },
    { populate: ['account'] },
  );
}

export async function signOut(em: EntityManager, cookie: string): Promise<void> {
  await em.nativeDelete(BrowserSession, { hash: hashSecret(cookie) });
}

function openSession(tx: EntityManager, { clock }: Deps, account: Account): SignedIn {
  const now = clock.now();
  const session = newSecret('frs');
  const expiresAt = new Date(now.getTime() + sessionMs);
  tx.create(BrowserSession, { id: newId('sess'), account, hash: hashSecret(session), createdAt: now, expiresAt });
  return { outcome: 'signed_in', session, expiresAt };
}

/** A code that the page showed shortly before the link expires outlives it. */
function isUsable(link: SigninLink, which: WhichLink, now: Date): boolean {
  if (link.endedAt || isSpent(link)) return false;
  return link.expiresAt > now || ('id' in which && !!link.codeExpiresAt && link.codeExpiresAt > now);
}

function conditionOf(which: WhichLink) {
  if ('secret' in which) return { hash: hashSecret(which.secret) };
  if (!isId('link', which.id)) return noSuchLink(which);
  return { id: which.id, browserHash: hashSecret(which.browser) };
}

function noSuchLink(which: WhichLink): never {
  throw errors.not_found(
    'secret' in which
      ? 'This sign-in link is not valid or has expired. Request a new one.'
      : 'This browser did not request this sign-in, or it has expired. Request a new link.',
  );
}
