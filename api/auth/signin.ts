/** Signing in with an e-mailed link. */

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
import { dayMs, minuteMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { newId, newSecret } from '#runtime/ids.ts';
import { hashCode, isCode, newUserCode, wrongCodesMax } from './codes.ts';
import { limitSigninLinks } from './rate-limits.ts';

const linkMs = 15 * minuteMs;
const sessionMs = 14 * dayMs;

/**
 * E-mails a link to the address. Where accounts cannot be created, an address without an account gets an e-mail that
 * says so; a blocked account gets the reason. The response is the same in all cases. `browser` is the secret of the
 * requesting browser, `askedFrom` its network address. Returns the code that another browser needs. Throws `rate_limited`.
 */
export async function mailLink(
  em: EntityManager,
  deps: Deps,
  email: string,
  { browser, askedFrom }: { browser: string; askedFrom: string },
): Promise<{ code: string }> {
  const { clock, config } = deps;
  const network = networkKey(askedFrom, config);
  const [id, secret, code] = [newId('link'), newSecret('frl'), newUserCode()];
  await em.transactional(async (tx) => {
    const now = clock.now();
    const expiresAt = new Date(now.getTime() + linkMs);
    await lockAddress(tx, email);
    await limitSigninLinks(tx, deps, { email, network });
    tx.create(SigninLink, {
      id,
      email,
      hash: hashSecret(secret),
      browserHash: hashSecret(browser),
      network,
      codeHash: hashCode(config.secret, id, code),
      createdAt: now,
      expiresAt,
    });
    const canOpen = config.signUp === 'open' && !(await isReserved(tx, now, email));
    const known = canOpen || (await tx.count(Account, { email, purgedAt: null })) > 0;
    const link = known ? `${config.baseUrl}/signin/${secret}` : null;
    const reason = await blockOfAddress(tx, email);
    // Only the reader of the e-mail learns that the account is blocked.
    if (reason === null) queueMail(tx, deps, { kind: 'signin-link', to: email, data: { link }, until: expiresAt });
    else queueMail(tx, deps, { kind: 'account-blocked', to: email, data: { reason }, until: expiresAt });
  });
  return { code };
}

export type LinkState = 'usable' | 'over';

/** Whether the link is valid, and whether this browser needs the code. Throws `not_found`. */
export async function readLink(
  em: EntityManager,
  clock: Deps['clock'],
  secret: string,
  browser: string | undefined,
): Promise<{ state: LinkState; sameBrowser: boolean; email: string }> {
  const link = (await em.findOne(SigninLink, { hash: hashSecret(secret) })) ?? noSuchLink();
  const sameBrowser = browser !== undefined && hashSecret(browser).equals(link.browserHash);
  return { state: isUsable(link, clock.now()) ? 'usable' : 'over', sameBrowser, email: link.email };
}

export type SignedIn =
  | { outcome: 'signed_in'; session: string; expiresAt: Date }
  | { outcome: 'wrong_code'; triesLeft: number }
  | { outcome: 'over' };

/**
 * Signs in, once. `typed` is the code, which only other browsers than the requesting one need. Throws `not_found`, and
 * `access_denied` where the account is blocked.
 */
export async function useLink(
  em: EntityManager,
  deps: Deps,
  secret: string,
  by: { browser: string; typed: string | undefined },
): Promise<SignedIn> {
  return await em.transactional(async (tx) => {
    const link = await tx.findOne(SigninLink, { hash: hashSecret(secret) }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!link) return noSuchLink();
    if (!isUsable(link, deps.clock.now())) return { outcome: 'over' };
    const sameBrowser = hashSecret(by.browser).equals(link.browserHash);
    if (!sameBrowser && !isCode(deps.config.secret, link, by.typed ?? '')) {
      link.wrongCodes += 1;
      return { outcome: 'wrong_code', triesLeft: wrongCodesMax - link.wrongCodes };
    }
    const account = await accountOfAddress(tx, deps, { email: link.email });
    // The address had an account when the link was sent, and no longer has one.
    if (!account) return { outcome: 'over' };
    // An account under deletion too: its owner signs in to restore it.
    requireNotBlocked(account);
    link.endedAt = deps.clock.now();
    return openSession(tx, deps, account);
  });
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

function isUsable(link: SigninLink, now: Date): boolean {
  return !link.endedAt && link.wrongCodes < wrongCodesMax && link.expiresAt > now;
}

function noSuchLink(): never {
  throw errors.not_found('This sign-in link is not valid or has expired. Request a new one.');
}
