/** Access of collaborators in a signed-in browser: they leave a site, and its owner ends what an invitation gave. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { findSite, roleOf } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { formsFor, pageOptions, sendPage } from '#api/plugins/browser.ts';
import { Account } from '#db/accounts/account.ts';
import type { Deps } from '#runtime/deps.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import { html } from '#web/html.ts';
import { confirmationPage } from '#web/pages/confirmation.ts';
import { invitedPage } from '#web/pages/invitation.ts';
import { noticePage } from '#web/pages/notice.ts';
import { endInvited, findInvited } from './invited.ts';
import { leaveSite } from './rules.ts';

type Named = { Params: { id: string } };

/** All routes require a session. Opening a page ends nothing. */
export function collaboratorPages(app: Api, deps: Deps): void {
  app.get<Named>(
    '/account/sites/:id/leave',
    pageOptions('collaborator.show_leaving', 'email_signin'),
    async (request, reply) => {
      const site = await siteToLeave(request);
      if (!site) return sendPage(reply, noAccess, 404);
      const { name, email } = await request.em.findOneOrFail(Account, site.account.id);
      const hostname = siteHostname(deps.config, site.name);
      const page = confirmationPage({
        form: formsFor(request, reply, deps),
        action: `/account/sites/${site.id}/leave`,
        title: `Leave ${hostname}?`,
        lead: html`You and your agents will no longer be able to edit <strong>${hostname}</strong> or see its drafts. Your work stays with its owner, ${name} (${email}).`,
        button: 'Leave',
        hint: 'Your git passwords, upload links and review links for this website end at once. To keep your access, go back; nothing will change.',
      });
      return sendPage(reply, page);
    },
  );

  app.post<Named>(
    '/account/sites/:id/leave',
    pageOptions('collaborator.leave_on_page', 'email_signin'),
    async (request, reply) => {
      const site = await siteToLeave(request);
      if (!site) return sendPage(reply, noAccess, 404);
      await leaveSite(request.em, deps, request.actor, site.id);
      return sendPage(reply, left(siteHostname(deps.config, site.name)));
    },
  );

  app.get<Named>(
    '/account/invitations/:id',
    pageOptions('invitation.show_to_owner', 'email_signin'),
    (request, reply) => showInvited(request, reply, deps),
  );

  app.post<Named>(
    '/account/invitations/:id/end',
    pageOptions('invitation.end_on_page', 'email_signin'),
    async ({ em, actor, params }, reply) => {
      await endInvited(em, deps, actor, params.id);
      return sendPage(reply, ended);
    },
  );
}

/** A site of another account on which the caller works. */
async function siteToLeave({ em, actor, params }: FastifyRequest<Named>) {
  const site = await findSite(em, actor, params.id);
  return site && roleOf(site, actor) === 'collaborator' ? site : null;
}

async function showInvited(request: FastifyRequest<Named>, reply: FastifyReply, deps: Deps) {
  const { em, actor, params } = request;
  const found = await findInvited(em, actor, params.id);
  if (!found) return sendPage(reply, notFound, 404);
  if (!found.hasAccess) return sendPage(reply, ended);
  const { id, site, email, createdAt, status } = found.invitation;
  const page = {
    form: formsFor(request, reply, deps),
    action: `/account/invitations/${id}/end`,
    hostname: siteHostname(deps.config, site.name),
    email,
    invitedAt: createdAt,
    accepted: status === 'accepted',
  };
  return sendPage(reply, invitedPage(page));
}

const toAccount = { href: '/account', text: 'Your account' };

const noAccess = noticePage({
  title: 'You do not work on this website',
  text: 'You have left it, its owner ended your access, or it is your own.',
  link: toAccount,
});

const left = (hostname: string) =>
  noticePage({
    title: `You have left ${hostname}`,
    text: 'You and your agents no longer have access to it. To work on it again, ask its owner to invite you.',
    link: toAccount,
  });

const notFound = noticePage({
  title: 'We can’t find this invitation',
  text: 'It belongs to a website of a different account. If the website is yours, sign out and sign in with its owner’s address.',
  link: toAccount,
});

const ended = noticePage({
  title: 'They have no access',
  text: 'The invitation has ended, and with it the access that it gave. If you do not recognise the agent that sent it, revoke its access on your account page.',
  lit: true,
  link: toAccount,
});
