/** Pages of an owner who is signed in: the session's cookie says who asks. Anybody else is sent to sign in. */
import type { FastifyReply } from 'fastify';
import { requireNotStopped } from '#api/accounts/blocked.ts';
import type { Api } from '#api/api.ts';
import { readSession } from '#api/auth/signin.ts';
import type { BrowserSession } from '#db/auth/browser-session.ts';
import type { Deps } from '#runtime/deps.ts';
import { clearHostCookie, setHostCookie } from './browser.ts';

declare module 'fastify' {
  interface FastifyRequest {
    session: BrowserSession | null;
  }
}

const sessionCookie = '__Host-frontage_session';

/** Sets `request.session` and `request.actor`. */
export function requireSession(scope: Api, { clock }: Deps): void {
  scope.decorateRequest('session', null);
  scope.addHook('onRequest', async (request, reply) => {
    const cookie = sessionSecret(request);
    request.session = cookie === undefined ? null : await readSession(request.em, clock, cookie);
    if (!request.session) return reply.redirect(signinFor(request.url), 303);
    if (request.url !== '/signout') requireNotStopped(request.session.account);
    // No token of the account is the one in use, so the owner may revoke each.
    request.actor = { accountId: request.session.account.id, tokenId: request.session.id };
  });
}

/** Whoever comes from an invitation is told with which address to sign in; which invitation it is stays unsaid. */
function signinFor(url: string): string {
  return url.startsWith('/invitations/') ? '/signin?for=invitation' : '/signin';
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
