/** `/oauth/authorize`: the signed-in owner sees which client requests access, and answers. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { requireNotStopped } from '#api/accounts/blocked.ts';
import type { Api } from '#api/api.ts';
import { saveReturnPage, signinFor } from '#api/auth/return-page.ts';
import { isEmptyChoice, readChoice, scopeChosen, siteChoices } from '#api/auth/scope-choice.ts';
import { readSession } from '#api/auth/signin.ts';
import { formsFor, pageOptions, readForm, sendPage } from '#api/plugins/browser.ts';
import { sessionSecret } from '#api/plugins/session.ts';
import type { BrowserSession } from '#db/auth/browser-session.ts';
import { type Scope, usualScope } from '#rules/scopes.ts';
import type { Deps } from '#runtime/deps.ts';
import { html } from '#web/html.ts';
import { consentPage } from '#web/pages/oauth-consent.ts';
import { noSiteChosen } from '#web/pages/scope.ts';
import {
  type AuthorizationRequest,
  answerAddress,
  newCode,
  validateAuthorizationRequest,
} from './authorization-request.ts';
import { hostOf, sourcesOf } from './clients.ts';
import { OauthFault } from './faults.ts';

const otherAccount =
  'Another account is signed in now: see its address above. Give access only if it is the right one.';

type AuthorizeQuery = { Querystring: Record<string, unknown> };
type Consent = { authorization: AuthorizationRequest; session: BrowserSession; chosen: Scope; fault?: string };

export function consentPages(app: Api, deps: Deps): void {
  const { config } = deps;

  app.get<AuthorizeQuery>('/oauth/authorize', pageOptions('oauth.ask', 'email_signin'), async (request, reply) =>
    withAuthorizationRequest(request, reply, (authorization, session) =>
      show(request, reply, { authorization, session, chosen: usualScope }),
    ),
  );

  app.post<AuthorizeQuery>('/oauth/authorize', pageOptions('oauth.answer', 'email_signin'), async (request, reply) =>
    withAuthorizationRequest(request, reply, async (authorization, session) => {
      const { field } = readForm(request);
      if (field('answer') !== 'approve') {
        const denied = new OauthFault('access_denied', 'The owner denied access.');
        return reply.redirect(answerAddress(config, authorization, denied), 303);
      }
      if (field('shown_to') !== session.account.id)
        return show(request, reply, { authorization, session, chosen: usualScope, fault: otherAccount });
      const choice = readChoice(request);
      if (isEmptyChoice(choice))
        return show(request, reply, { authorization, session, chosen: choice, fault: noSiteChosen });
      const scope = await scopeChosen(request.em, session.account.id, choice);
      const code = await newCode(request.em, deps, { session, authorization, scope });
      return reply.redirect(answerAddress(config, authorization, { code }), 303);
    }),
  );

  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    { authorization, session, chosen, fault }: Consent,
  ): Promise<FastifyReply> {
    const { id, email } = session.account;
    const form = formsFor(request, reply, deps);
    const page = consentPage({
      name: authorization.client.name,
      leadsTo: hostOf(authorization.redirectUri),
      leadingTo: sourcesOf(authorization.redirectUri),
      email,
      sites: await siteChoices(request.em, config, id),
      chosen,
      // Another person may sign in while the page is open.
      form: (attributes, inside) =>
        form(attributes, html`<input type="hidden" name="shown_to" value="${id}">${inside}`),
      fault,
    });
    return sendPage(reply, page, fault ? 400 : 200);
  }

  /** Calls `go` with a valid request and a signed-in owner. */
  async function withAuthorizationRequest(
    request: FastifyRequest<AuthorizeQuery>,
    reply: FastifyReply,
    go: (authorization: AuthorizationRequest, session: BrowserSession) => FastifyReply | Promise<FastifyReply>,
  ): Promise<FastifyReply> {
    const authorization = validateAuthorizationRequest(config, request.query);
    const cookie = sessionSecret(request);
    const session = cookie === undefined ? null : await readSession(request.em, deps.clock, cookie);
    if (!session) {
      saveReturnPage(reply, request, deps.clock.now());
      return reply.redirect(signinFor(request.url), 303);
    }
    requireNotStopped(session.account);
    return await go(authorization, session);
  }
}
