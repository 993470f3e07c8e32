/** Browser pages without a session: signing in, and answering an access request from its mailed link. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { readEmail } from '#api/email-addresses.ts';
import { formsFor, pageOptions, readForm, sendPage } from '#api/plugins/browser.ts';
import { startSession } from '#api/plugins/session.ts';
import { Account } from '#db/accounts/account.ts';
import type { AccessRequest } from '#db/auth/access-request.ts';
import { endOf } from '#db/auth/access-request-expiry.ts';
import type { SigninLink } from '#db/auth/signin-link.ts';
import { period, signinLinkMs } from '#rules/periods.ts';
import { type Scope, usualScope } from '#rules/scopes.ts';
import { accessRequestStatusAt } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { AppError } from '#runtime/errors.ts';
import { approvalPage } from '#web/pages/access-request.ts';
import { wrongCode } from '#web/pages/form.ts';
import { noticePage } from '#web/pages/notice.ts';
import { noSiteChosen } from '#web/pages/scope.ts';
import { type Asker, codePage, linkPage, sentPage, signinPage } from '#web/pages/signin.ts';
import { answerRequest, loadRequest } from './answers.ts';
import { outcomeNotice, readAnswer, requestView } from './outcomes.ts';
import { sourcesBeyond, whereTo } from './return-page.ts';
import { isEmptyChoice, siteChoices } from './scope-choice.ts';
import { isAskingBrowser, mailLink, readLink, type SignedIn, showCode, typeCode, useLink } from './signin.ts';

type Signin = { Querystring: { for?: unknown } };
type Linked = { Params: { link: string } };
type Asked = { Params: { id: string } };

/**
 * `/signin`: asks for an address and e-mails a link. The link's page signs in the browser that opens it with one button,
 * or shows a code for the browser that asked.
 */
export function signinPages(app: Api, deps: Deps): void {
  app.get<Signin>('/signin', pageOptions('signin.show', 'email_signin'), async (request, reply) =>
    sendPage(reply, signinPage({ form: formsFor(request, reply, deps), reason: reasonOf(request.query.for) })),
  );

  app.post('/signin', pageOptions('signin.ask', 'email_signin'), async (request, reply) => {
    const { browser: secret, field } = readForm(request);
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
    const asker = { secret, userAgent: request.headers['user-agent'], address: request.ip };
    return reply.redirect(`/signin/code/${await mailLink(request.em, deps, email, asker)}`, 303);
  });

  app.get<Asked>('/signin/code/:id', pageOptions('signin.wait', 'email_signin'), (request, reply) =>
    showAsked(request, reply),
  );

  app.post<Asked>('/signin/code/:id', pageOptions('signin.type_code', 'email_signin'), async (request, reply) => {
    const { browser, field } = readForm(request);
    const typed = (field('code') ?? '').slice(0, 100);
    const answer = await typeCode(request.em, deps, { id: request.params.id, browser, typed });
    if (answer.outcome === 'signed_in') return welcome(request, reply, answer);
    if (answer.outcome === 'code_expired') return showAsked(request, reply, codeExpired);
    const triesLeft = answer.outcome === 'wrong_code' ? answer.triesLeft : 0;
    return triesLeft > 0 ? showAsked(request, reply, wrongCode(triesLeft, typed)) : sendPage(reply, linkExpired, 410);
  });

  app.get<Linked>('/signin/:link', pageOptions('signin.open', 'email_signin'), (request, reply) =>
    showLink(request, reply),
  );

  app.post<Linked>('/signin/:link', pageOptions('signin.finish', 'email_signin'), async (request, reply) => {
    const { link: secret } = request.params;
    const answer = readForm(request).field('answer');
    if (answer === 'code') {
      const shown = await showCode(request.em, deps, secret);
      if (shown.outcome === 'over') return sendPage(reply, linkExpired, 410);
      const { code, link } = shown;
      return sendPage(reply, codePage({ email: link.email, code, asker: askerOf(link) }));
    }
    // A program that submits the form presses no button.
    if (answer !== 'here') return showLink(request, reply, 'Press one of the buttons.');
    const signedIn = await useLink(request.em, deps, secret);
    return signedIn.outcome === 'over' ? sendPage(reply, linkExpired, 410) : welcome(request, reply, signedIn);
  });

  function welcome(request: FastifyRequest, reply: FastifyReply, { session, expiresAt }: Session) {
    startSession(reply, session, expiresAt);
    return reply.redirect(whereTo(request, reply) ?? '/account', 303);
  }

  async function showAsked(request: FastifyRequest<Asked>, reply: FastifyReply, fault?: string) {
    const which = { id: request.params.id, browser: request.browser ?? '' };
    const { link, isUsable } = await readLink(request.em, deps, which);
    if (!isUsable) return sendPage(reply, linkExpired, 410);
    const form = formsFor(request, reply, deps);
    const page = sentPage({ form, email: link.email, leadsTo: sourcesBeyond(request), fault });
    return sendPage(reply, page, fault ? 400 : 200);
  }

  async function showLink(request: FastifyRequest<Linked>, reply: FastifyReply, fault?: string) {
    const { link, isUsable } = await readLink(request.em, deps, { secret: request.params.link });
    if (!isUsable) return sendPage(reply, linkExpired, 410);
    const page = linkPage({
      form: formsFor(request, reply, deps),
      email: link.email,
      asker: askerOf(link),
      now: deps.clock.now(),
      sameBrowser: isAskingBrowser(link, request.browser),
      leadsTo: sourcesBeyond(request),
      fault,
    });
    return sendPage(reply, page, fault ? 400 : 200);
  }
}

type Session = Extract<SignedIn, { outcome: 'signed_in' }>;

const askerOf = ({ askedBrowser = null, askedFrom = null, createdAt }: SigninLink): Asker => ({
  browser: askedBrowser,
  address: askedFrom,
  at: createdAt,
});

const codeExpired = 'This code has expired. Open the link again and choose “Show a code” to get a new one.';

const reasonOf = (wanted: unknown) =>
  wanted === 'invitation' || wanted === 'client' || wanted === 'agent' ? wanted : undefined;

const linkExpired = noticePage({
  title: 'This link has expired',
  text: `A sign-in link works once and expires after ${period(signinLinkMs)}; five wrong codes end it. Request a new one.`,
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
    if (answered.outcome === 'wrong_code')
      return again(wrongCode(answered.triesLeft, answer.approve ? answer.code : ''));
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
