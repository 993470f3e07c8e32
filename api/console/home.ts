/** Home: what waits for the owner, and their sites. Access requests are answered here. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { deletingSitesOf, roleOf, sitesOf } from '#api/access.ts';
import { answerRequest, openRequests } from '#api/auth/answers.ts';
import { outcomeNotice, readAnswer, requestView } from '#api/auth/outcomes.ts';
import { isEmptyChoice, siteChoices } from '#api/auth/scope-choice.ts';
import { openCommentsOf } from '#api/comments/counts.ts';
import { invitationsShown } from '#api/invitations/pages.ts';
import { pageOptions, sendPage } from '#api/plugins/browser.ts';
import { refusalsShown } from '#api/scopes/pages.ts';
import { blockOf } from '#db/sites/blocks.ts';
import { Site } from '#db/sites/site.ts';
import { siteAddress } from '#runtime/site-addresses.ts';
import { homePage, type SiteShown } from '#web/console/home.ts';
import { wrongCode } from '#web/pages/form.ts';
import { noticePage } from '#web/pages/notice.ts';
import { noSiteChosen } from '#web/pages/scope.ts';
import { type Console, consolePage, frameOf, type Named, sessionAccount } from './frame.ts';

export function homePages({ app, deps }: Console): void {
  app.get('/account', consolePage('home'), (request, reply) => show(request, reply));

  app.post<Named>(
    '/account/requests/:id',
    pageOptions('access.answer_on_page', 'email_signin'),
    async (request, reply) => {
      const which = { id: request.params.id, email: sessionAccount(request).email };
      const answer = readAnswer(request);
      if (answer.approve && isEmptyChoice(answer.choice)) return show(request, reply, noSiteChosen);
      const answered = await answerRequest(request.em, deps, which, answer);
      if (answered.outcome === 'wrong_code')
        return show(request, reply, wrongCode(answered.triesLeft, answer.approve ? answer.code : ''));
      return sendPage(reply, noticePage(outcomeNotice(answered)), answered.outcome === 'over' ? 410 : 200);
    },
  );

  async function show(request: FastifyRequest, reply: FastifyReply, fault?: string) {
    const refused = fault === undefined ? null : { status: 400, action: '', text: fault, field: null, values: {} };
    const page = homePage(frameOf(request, reply, deps, refused), await read(request));
    return sendPage(reply, page, refused ? 400 : 200);
  }

  async function read(request: FastifyRequest) {
    const { em, actor } = request;
    const { id, email } = sessionAccount(request);
    const shown = { $or: [await sitesOf(em, actor), deletingSitesOf(actor)] };
    const sites = await em.find(Site, shown, { orderBy: { id: 'desc' } });
    const requests = await openRequests(em, deps.clock.now(), email);
    const open = await openCommentsOf(
      em,
      sites.map((site) => site.id),
    );
    return {
      requests: requests.map((one) => ({ id: one.id, ...requestView(one) })),
      siteChoices: requests.length > 0 ? await siteChoices(em, deps.config, id) : [],
      refusals: await refusalsShown(em, deps, id),
      invitations: await invitationsShown(em, deps, actor),
      sites: sites.map((site) => siteShown(site, request, open.get(site.id) ?? 0)),
    };
  }

  function siteShown(site: Site, { actor }: FastifyRequest, openComments: number): SiteShown {
    const { id, title, status, liveDeploymentId } = site;
    return {
      id,
      title,
      address: siteAddress(deps.config, site.name),
      archived: status === 'archived',
      deletion: site.deleteAt ? { at: site.deleteAt, restore: `/account/sites/${id}/restore` } : null,
      blocked: blockOf(site)?.reason ?? null,
      live: liveDeploymentId !== null,
      openComments,
      role: roleOf(site, actor),
    };
  }
}
