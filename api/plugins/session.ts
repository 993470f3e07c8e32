/** Pages for signed-in owners, identified by the session cookie. Other browsers are redirected to sign in, and then return. */
import type { FastifyReply } from 'fastify';
import { sessionActorOf } from '#api/access.ts';
import { requireNotBlocked } from '#api/accounts/blocked.ts';
import type { Api } from '#api/api.ts';
import { saveReturnPage, signinFor } from '#api/auth/return-page.ts';
import { readSession } from '#api/auth/signin.ts';
import type { BrowserSession } from '#db/auth/browser-session.ts';
import type { Deps } from '#runtime/deps.ts';
import { clearHostCookie, setHostCookie } from './browser.ts';

declare module 'fastify' {
  interface FastifyRequest {
    session: BrowserSession | null;
  }
}

/** While the account is being deleted, its owner sees this page only. */
export const restorePath = '/account/restore';

const sessionCookie = '__Host-frontage_session';

/** Sets `request.session` and `request.actor`. */
export function requireSession(scope: Api, { clock }: Deps): void {
  scope.decorateRequest('session', null);
  scope.addHook('onRequest', async (request, reply) => {
    const cookie = sessionSecret(request);
    request.session = cookie === undefined ? null : await readSession(request.em, clock, cookie);
    if (!request.session) {
      saveReturnPage(reply, request, clock.now());
      return reply.redirect(signinFor(request.url), 303);
    }
    // A session uses no token of the account, so the owner may revoke every token.
    request.actor = sessionActorOf(request.session.account.id, request.session.id);
    if (request.url === '/signout') return;
    requireNotBlocked(request.session.account);
    if (request.session.account.deleteAt && request.url !== restorePath) return reply.redirect(restorePath, 303);
  });
}

export function sessionSecret(request: { cookies: Record<string, string | undefined> }): string | undefined {
  const cookie = request.cookies[sessionCookie];
  return cookie && /^frs_[\w-]{43}$/.test(cookie) ? cookie : undefined;
}

export function startSession(reply: FastifyReply, secret: string, expires: Date): void {
  setHostCookie(reply, sessionCookie, secret, expires);
}

export function endSession(reply: FastifyReply): void {
  clearHostCookie(reply, sessionCookie);
}
