/** The account page. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { deletingSitesOf, roleOf, sitesOf } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { answerRequest, openRequests } from '#api/auth/answers.ts';
import { outcomeNotice, readAnswer, requestView } from '#api/auth/outcomes.ts';
import { isEmptyChoice, siteChoices } from '#api/auth/scope-choice.ts';
import { signOut } from '#api/auth/signin.ts';
import { planShown } from '#api/billing/pages.ts';
import { calendarFeedsShown } from '#api/calendar-feeds/pages.ts';
import { openCommentsOf } from '#api/comments/counts.ts';
import { domainsShown } from '#api/domains/pages.ts';
import { invitationsShown } from '#api/invitations/pages.ts';
import { payoutsShown } from '#api/payout-offers/pages.ts';
import { accountButton, formsFor, pageOptions, readForm, sendPage } from '#api/plugins/browser.ts';
import { endSession, sessionSecret } from '#api/plugins/session.ts';
import { refusalsShown } from '#api/scopes/pages.ts';
import { gitPasswordsShown } from '#api/source/pages.ts';
import { revokeToken, usableTokens } from '#api/tokens/rules.ts';
import { renewableTokenIds } from '#db/auth/oauth-expiry.ts';
import { Token } from '#db/auth/token.ts';
import { presentSandboxes } from '#db/deployments/builder-capacity.ts';
import { blockOf } from '#db/sites/blocks.ts';
import { Site } from '#db/sites/site.ts';
import type { Deps } from '#runtime/deps.ts';
import { AppError, type ErrorCode, errors } from '#runtime/errors.ts';
import { siteAddress } from '#runtime/site-addresses.ts';
import { accountPage, type SiteShown } from '#web/pages/account.ts';
import { wrongCode } from '#web/pages/form.ts';
import { noticePage } from '#web/pages/notice.ts';
import { noSiteChosen } from '#web/pages/scope.ts';
import { pendingChange, waitingFor } from './address-change.ts';
import { changeAccount } from './rules.ts';

type Named = { Params: { id: string } };

/** `/account` and its buttons. All routes require a session. */
export function ownerPages(app: Api, deps: Deps): void {
  app.get('/account', pageOptions('account.show', 'email_signin'), (request, reply) => show(request, reply));

  app.post('/signout', pageOptions('signin.end', 'email_signin'), async (request, reply) => {
    await signOut(request.em, sessionSecret(request) ?? '');
    endSession(reply);
    return reply.redirect('/signin', 303);
  });

  accountButton(
    app,
    '/account/tokens/:id/revoke',
    pageOptions('token.revoke_on_page', 'email_signin'),
    ({ em, actor, params }) => revokeToken(em, deps.clock, actor, params.id),
  );

  app.post<Named>(
    '/account/requests/:id',
    pageOptions('access.answer_on_page', 'email_signin'),
    async (request, reply) => {
      const which = { id: request.params.id, email: owner(request).email };
      const answer = readAnswer(request);
      if (answer.approve && isEmptyChoice(answer.choice)) return show(request, reply, noSiteChosen);
      const answered = await answerRequest(request.em, deps, which, answer);
      if (answered.outcome === 'wrong_code')
        return show(request, reply, wrongCode(answered.triesLeft, answer.approve ? answer.code : ''));
      return sendPage(reply, noticePage(outcomeNotice(answered)), answered.outcome === 'over' ? 410 : 200);
    },
  );

  app.post('/account/address', pageOptions('address.ask_on_page', 'email_signin'), async (request, reply) => {
    const { field } = readForm(request);
    const isWithdrawn = field('answer') === 'withdraw';
    const email = isWithdrawn ? owner(request).email : (field('email') ?? '');
    try {
      await changeAccount(request.em, deps, request.actor, { email });
    } catch (error) {
      if (!(error instanceof AppError && faultsOfAddress.includes(error.code))) throw error;
      return show(request, reply, error.message);
    }
    return reply.redirect('/account', 303);
  });

  async function show(request: FastifyRequest, reply: FastifyReply, fault?: string) {
    const page = accountPage({ ...(await readAll(request)), form: formsFor(request, reply, deps), fault });
    return sendPage(reply, page, fault ? 400 : 200);
  }

  async function readAll(request: FastifyRequest) {
    const { em } = request;
    const { id, name, email } = owner(request);
    const now = deps.clock.now();
    const shown = { $or: [await sitesOf(em, request.actor), deletingSitesOf(request.actor)] };
    const sites = await em.find(Site, shown, { orderBy: { id: 'desc' } });
    // An OAuth client renews its hourly access token, so that token's expiry is not the end of its access.
    const renewable = await renewableTokenIds(em, id, now);
    const tokens = await em.find(Token, await usableTokens(em, id, now), { orderBy: { id: 'desc' } });
    const requests = await openRequests(em, now, email);
    const open = await openCommentsOf(
      em,
      sites.map((site) => site.id),
    );
    const pending = await pendingChange(em, now, id);
    return {
      now,
      name,
      email,
      pending: pending && { email: pending.email, waitingFor: waitingFor(pending), expiresAt: pending.expiresAt },
      requests: requests.map((one) => ({ id: one.id, ...requestView(one) })),
      siteChoices: requests.length > 0 ? await siteChoices(em, deps.config, id) : [],
      refusals: await refusalsShown(em, deps, id),
      invitations: await invitationsShown(em, deps, request.actor),
      payouts: await payoutsShown(em, deps, request.actor),
      plan: await planShown(em, deps, request.actor),
      sites: sites.map((site) => siteShown(site, request, open.get(site.id) ?? 0)),
      domains: await domainsShown(em, deps, request.actor),
      gitPasswords: await gitPasswordsShown(em, deps, request.actor),
      calendarFeeds: await calendarFeedsShown(em, deps, request.actor),
      sandboxes: await presentSandboxes(em, deps.clock),
      tokens: tokens.map((token) => ({
        ...token,
        lastUsedAt: token.lastUsedAt ?? null,
        expiresAt: renewable.includes(token.id) ? null : (token.expiresAt ?? null),
      })),
    };
  }

  function siteShown(site: Site, { actor }: FastifyRequest, openComments: number): SiteShown {
    const { id, title, status, liveDeploymentId } = site;
    const address = siteAddress(deps.config, site.name);
    return {
      id,
      title,
      address,
      archived: status === 'archived',
      deletion: site.deleteAt ? { at: site.deleteAt, restore: `/account/sites/${id}/restore` } : null,
      blocked: blockOf(site)?.reason ?? null,
      live: liveDeploymentId !== null,
      openComments,
      role: roleOf(site, actor),
    };
  }
}

/** Shown on the page, where the owner can try another address. */
const faultsOfAddress: readonly ErrorCode[] = [
  'invalid_email',
  'email_taken',
  'nothing_to_update',
  'rate_limited',
  'address_change_pending',
];

/** The account of the session, which is loaded with it. */
function owner(request: FastifyRequest): { id: string; name: string; email: string } {
  const account = request.session?.account;
  if (!account) throw errors.not_found('Sign in first.');
  return account;
}
