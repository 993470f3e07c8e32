/** The ends of sign-in links and browser sessions. */
import { BrowserSession } from './entities/browser-session.ts';
import { SigninLink } from './entities/signin-link.ts';
import type { EntityManager } from './orm.ts';

/** For longer than the hour in which links are counted. */
const keptMs = 24 * 3600_000;

/** Ends every link to the address that could still sign in. */
export async function endLinks(em: EntityManager, now: Date, email: string): Promise<void> {
  await em.nativeUpdate(SigninLink, { email, endedAt: null }, { endedAt: now });
}

/** Forgets links and sessions that are over. Answers how many rows went. */
export async function sweepSignIns(em: EntityManager, now: Date): Promise<number> {
  const links = await em.nativeDelete(SigninLink, { expiresAt: { $lt: new Date(now.getTime() - keptMs) } });
  return links + (await em.nativeDelete(BrowserSession, { expiresAt: { $lt: now } }));
}
