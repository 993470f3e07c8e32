/** The ends of sign-in links and browser sessions. */

import { EmailChange } from '#db/accounts/email-change.ts';
import type { EntityManager } from '#db/orm.ts';
import { BrowserSession } from './browser-session.ts';
import { SigninLink } from './signin-link.ts';

/** For longer than the hour in which links are counted. */
const keptMs = 24 * 3600_000;

/** Ends every link to the address that could still sign in. */
export async function expireSigninLinks(em: EntityManager, now: Date, email: string): Promise<void> {
  await em.nativeUpdate(SigninLink, { email, endedAt: null }, { endedAt: now });
}

/** Forgets links, sessions and changes of address that are over. Answers how many rows went. */
export async function sweepSignIns(em: EntityManager, now: Date): Promise<number> {
  const over = { expiresAt: { $lt: new Date(now.getTime() - keptMs) } };
  const links = await em.nativeDelete(SigninLink, over);
  const changes = await em.nativeDelete(EmailChange, over);
  return links + changes + (await em.nativeDelete(BrowserSession, { expiresAt: { $lt: now } }));
}
