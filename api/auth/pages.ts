/** Browser pages without a session: signing in, and answering an access request from its mailed link. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { readEmail } from '#api/email-addresses.ts';
import { sourcesBeyond, whereTo } from '#api/oauth/pending-request.ts';
import { formsFor, pageOptions, readForm, sendPage } from '#api/plugins/browser.ts';
import { startSession } from '#api/plugins/session.ts';
import { Account } from '#db/accounts/account.ts';
import type { AccessRequest } from '#db/auth/access-request.ts';
import { endOf } from '#db/auth/access-request-expiry.ts';
import { type Scope, usualScope } from '#rules/scopes.ts';
import { accessRequestStatusAt } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { AppError } from '#runtime/errors.ts';
import { approvalPage } from '#web/pages/access-request.ts';
import { wrongCode } from '#web/pages/form.ts';
import { noticePage } from '#web/pages/notice.ts';
import { noSiteChosen } from '#web/pages/scope.ts';
import { linkPage, sentPage, signinPage } from '#web/pages/signin.ts';
import { answerRequest, loadRequest } from './answers.ts';
import { outcomeNotice, readAnswer, requestView } from './outcomes.ts';
import { isEmptyChoice, siteChoices } from './scope-choice.ts';
import { mailLink, readLink, useLink } from './signin.ts';

type Signin = { Querystring: { for?: unknown } };
type Linked = { Params: { link: string } };

/** `/signin`: asks for an address, e-mails a link, and signs in with one button. */
export function signinPages(app: Api, deps: Deps): void {
  app.get<Signin>('/signin', pageOptions('signin.show', 'email_signin'), async (request, reply) =>
    sendPage(reply, signinPage({ form: formsFor(request, reply, deps), reason: reasonOf(request.query.for) })),
  );

  app.post('/signin', pageOptions('signin.ask', 'email_signin'), async (request, reply) => {
    const { browser, field } = readForm(request);
    const typed = field('email') ?? '';
    const email = plainAddress(typed);
    if (email === undefined) {
      const fault = 'Enter a complete e-mail address, such as owner@example.com.';
      return sendPage(
        reply,
        signinPage({ form: formsFor(request, reply, deps), fault, email: typed.slice(0, 254) }),
        400,
      );
    }
    const { code } = await mailLink(request.em, deps, email, { browser, askedFrom: request.ip });
    return sendPage(reply, sentPage({ email, code }));
  });

  app.get<Linked>('/signin/:link', pageOptions('signin.open', 'email_signin'), (request, reply) =>
    showLink(request, reply),
  );

  app.post<Linked>('/signin/:link', pageOptions('signin.finish', 'email_signin'), async (request, reply) => {
    const { browser, field } = readForm(request);
    const signedIn = await useLink(request.em, deps, request.params.link, { browser, typed: field('code') });
    if (signedIn.outcome === 'signed_in') {
      startSession(reply, signedIn.session, signedIn.expiresAt);
      return reply.redirect(whereTo(request, reply) ?? '/account', 303);
    }
    const triesLeft = signedIn.outcome === 'wrong_code' ? signedIn.triesLeft : 0;
    return triesLeft > 0 ? showLink(request, reply, wrongCode(triesLeft)) : sendPage(reply, linkExpired, 410);
  });

  async function showLink(request: FastifyRequest<Linked>, reply: FastifyReply, fault?: string) {
    const { em, browser, params } = request;
    const { state, sameBrowser, email } = await readLink(em, deps.clock, params.link, browser ?? undefined);
    if (state === 'over') return sendPage(reply, linkExpired, 410);
    const form = formsFor(request, reply, deps);
    return sendPage(
      reply,
      linkPage({ form, email, sameBrowser, leadsTo: sourcesBeyond(request), fault }),
      fault ? 400 : 200,
    );
  }
}

const reasonOf = (wanted: unknown) =>
  wanted === 'invitation' || wanted === 'client' || wanted === 'agent' ? wanted : undefined;

const linkExpired = noticePage({
  title: 'This link has expired',
  text: 'A sign-in link works once and expires after 15 minutes. Request a new one.',
  link: { href: '/signin', text: 'Send me a new link' },
});

/** `/access/{link}`: the owner's answer to an agent. Opening the page answers nothing. */
export function accessPages(app: Api, deps: Deps): void {
  app.get<Linked>('/access/:link', pageOptions('access.show', 'email_signin'), async (request, reply) => {
    const asked = await loadRequest(request.em, { link: request.params.link });
    const status = accessRequestStatusAt(asked, deps.clock.now());
    if (status === 'pending') return showRequest(request, reply, asked, usualScope);
    return sendPage(reply, noticePage(outcomeNotice({ outcome: 'over', status, end: endOf(asked) })), 410);
  });

  app.post<Linked>('/access/:link', pageOptions('access.answer', 'email_signin'), async (request, reply) => {
    const which = { link: request.params.link };
    const answer = readAnswer(request);
    const again = async (fault: string) =>
      showRequest(
        request,
        reply,
        await loadRequest(request.em, which),
        answer.approve ? answer.choice : usualScope,
        fault,
      );
    if (answer.approve && isEmptyChoice(answer.choice)) return again(noSiteChosen);
    const answered = await answerRequest(request.em, deps, which, answer);
    if (answered.outcome === 'wrong_code') return again(wrongCode(answered.triesLeft));
    return sendPage(reply, noticePage(outcomeNotice(answered)), answered.outcome === 'over' ? 410 : 200);
  });

  async function showRequest(
    request: FastifyRequest,
    reply: FastifyReply,
    asked: AccessRequest,
    chosen: Scope,
    fault?: string,
  ) {
    const account = await request.em.findOne(Account, { email: asked.email });
    const form = formsFor(request, reply, deps);
    const now = deps.clock.now();
    const page = approvalPage({
      request: requestView(asked),
      email: asked.email,
      now,
      sites: account ? await siteChoices(request.em, deps.config, account.id) : [],
      chosen,
      form,
      fault,
    });
    return sendPage(reply, page, fault ? 400 : 200);
  }
}

function plainAddress(typed: string): string | undefined {
  try {
    return readEmail(typed);
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}
