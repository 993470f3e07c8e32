/** `/oauth/authorize`: the signed-in owner sees which client requests access, and answers. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { requireNotStopped } from '#api/accounts/blocked.ts';
import type { Api } from '#api/api.ts';
import { readSession } from '#api/auth/signin.ts';
import { formsFor, pageOptions, readForm, sendPage } from '#api/plugins/browser.ts';
import { sessionSecret } from '#api/plugins/session.ts';
import type { BrowserSession } from '#db/auth/browser-session.ts';
import { minuteMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { connectorPage } from '#web/pages/oauth-consent.ts';
import {
  type AuthorizationRequest,
  answerAddress,
  newCode,
  validateAuthorizationRequest,
} from './authorization-request.ts';
import { hostOf, sourcesOf } from './clients.ts';
import { OauthFault } from './faults.ts';
import { savePendingRequest } from './pending-request.ts';

type Asked = { Querystring: Record<string, unknown> };
/** The same as the lifetime of a sign-in link. */
const signInMs = 15 * minuteMs;

export function connectorPages(app: Api, deps: Deps): void {
  const { config } = deps;

  app.get<Asked>('/oauth/authorize', pageOptions('oauth.ask', 'email_signin'), async (request, reply) =>
    judged(request, reply, (wish, { account: { email } }) => {
      const page = {
        name: wish.client.name,
        leadsTo: hostOf(wish.redirectUri),
        leadingTo: sourcesOf(wish.redirectUri),
        email,
        form: formsFor(request, reply, deps),
      };
      return sendPage(reply, connectorPage(page));
    }),
  );

  app.post<Asked>('/oauth/authorize', pageOptions('oauth.answer', 'email_signin'), async (request, reply) =>
    judged(request, reply, async (wish, session) => {
      const denied = readForm(request).field('answer') !== 'approve';
      const answer = denied
        ? new OauthFault('access_denied', 'The owner denied access.')
        : { code: await newCode(request.em, deps, session.account.id, wish) };
      return reply.redirect(answerAddress(config, wish, answer), 303);
    }),
  );

  /** Calls `go` with a valid request and a signed-in owner. */
  async function judged(
    request: FastifyRequest<Asked>,
    reply: FastifyReply,
    go: (wish: AuthorizationRequest, session: BrowserSession) => FastifyReply | Promise<FastifyReply>,
  ): Promise<FastifyReply> {
    const read = validateAuthorizationRequest(config, request.query);
    const cookie = sessionSecret(request);
    const session = cookie === undefined ? null : await readSession(request.em, deps.clock, cookie);
    if (!session) {
      savePendingRequest(reply, request, new Date(deps.clock.now().getTime() + signInMs));
      return reply.redirect('/signin?for=connector', 303);
    }
    requireNotStopped(session.account);
    // Only now: anyone can register any address, and our links must not be open redirectors (RFC 9700 section 4.11.2).
    if ('fault' in read) return reply.redirect(answerAddress(config, read, read.fault), 303);
    return await go(read.wish, session);
  }
}
