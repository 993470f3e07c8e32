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
import { consentPage } from '#web/pages/oauth-consent.ts';
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

export function consentPages(app: Api, deps: Deps): void {
  const { config } = deps;

  app.get<Asked>('/oauth/authorize', pageOptions('oauth.ask', 'email_signin'), async (request, reply) =>
    withAuthorizationRequest(request, reply, (authorization, { account: { email } }) => {
      const page = {
        name: authorization.client.name,
        leadsTo: hostOf(authorization.redirectUri),
        leadingTo: sourcesOf(authorization.redirectUri),
        email,
        form: formsFor(request, reply, deps),
      };
      return sendPage(reply, consentPage(page));
    }),
  );

  app.post<Asked>('/oauth/authorize', pageOptions('oauth.answer', 'email_signin'), async (request, reply) =>
    withAuthorizationRequest(request, reply, async (authorization, session) => {
      const denied = readForm(request).field('answer') !== 'approve';
      const answer = denied
        ? new OauthFault('access_denied', 'The owner denied access.')
        : { code: await newCode(request.em, deps, session.account.id, authorization) };
      return reply.redirect(answerAddress(config, authorization, answer), 303);
    }),
  );

  /** Calls `go` with a valid request and a signed-in owner. */
  async function withAuthorizationRequest(
    request: FastifyRequest<Asked>,
    reply: FastifyReply,
    go: (authorization: AuthorizationRequest, session: BrowserSession) => FastifyReply | Promise<FastifyReply>,
  ): Promise<FastifyReply> {
    const authorization = validateAuthorizationRequest(config, request.query);
    const cookie = sessionSecret(request);
    const session = cookie === undefined ? null : await readSession(request.em, deps.clock, cookie);
    if (!session) {
      savePendingRequest(reply, request, new Date(deps.clock.now().getTime() + signInMs));
      return reply.redirect('/signin?for=client', 303);
    }
    requireNotStopped(session.account);
    return await go(authorization, session);
  }
}
