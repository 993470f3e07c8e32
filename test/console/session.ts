/** A signed-in browser of an account. */
import type { Page } from 'playwright-core';
import { hashSecret } from '#api/secrets.ts';
import { Account } from '#db/accounts/account.ts';
import { BrowserSession } from '#db/auth/browser-session.ts';
import { dayMs } from '#rules/time.ts';
import { newId, newSecret } from '#runtime/ids.ts';
import type { Fixture } from '#test/api/fixture.ts';
import { newBrowser } from '#test/people/browser.ts';

const cookieName = '__Host-frontage_session';

/** Signs in without an e-mail; returns the cookie. */
export async function newSession({ deps, clock }: Pick<Fixture, 'deps' | 'clock'>, accountId: string) {
  const em = deps.em();
  const value = newSecret('frs');
  const now = clock.now();
  em.create(BrowserSession, {
    id: newId('sess'),
    account: em.getReference(Account, accountId),
    hash: hashSecret(value),
    createdAt: now,
    expiresAt: new Date(now.getTime() + dayMs),
  });
  await em.flush();
  return { name: cookieName, value };
}

/** A browser without a screen in which the account is signed in. */
export async function signedIn(fixture: Pick<Fixture, 'deps' | 'clock' | 'url'>, accountId: string) {
  const browser = newBrowser(fixture.url);
  const { name, value } = await newSession(fixture, accountId);
  browser.cookies.set(name, value);
  return browser;
}

/** Signs the account in at `desk.localhost` in a window of Chromium, which keeps secure cookies there. */
export async function addSession(fixture: Pick<Fixture, 'deps' | 'clock'>, accountId: string, page: Page) {
  const cookie = await newSession(fixture, accountId);
  await page.context().addCookies([{ ...cookie, url: 'https://desk.localhost', secure: true, httpOnly: true }]);
}
