/** Expiry of sign-in links and browser sessions. */

import { EmailChange } from '#db/accounts/email-change.ts';
import type { EntityManager } from '#db/orm.ts';
import { dayMs } from '#rules/time.ts';
import { BrowserSession } from './browser-session.ts';
import { SigninLink } from './signin-link.ts';

/** Longer than the hour of the rate limit on links. */
const keptMs = dayMs;

/** Expires every usable link to the address. */
export async function expireSigninLinks(em: EntityManager, now: Date, email: string): Promise<void> {
  await em.nativeUpdate(SigninLink, { email, endedAt: null }, { endedAt: now });
}

/** Deletes expired links, sessions and changes of address. Returns the number of rows. */
export async function sweepSignIns(em: EntityManager, now: Date): Promise<number> {
  const over = { expiresAt: { $lt: new Date(now.getTime() - keptMs) } };
  const links = await em.nativeDelete(SigninLink, over);
  const changes = await em.nativeDelete(EmailChange, over);
  return links + changes + (await em.nativeDelete(BrowserSession, { expiresAt: { $lt: now } }));
}
