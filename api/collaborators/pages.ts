/** Access of collaborators in a signed-in browser: they leave a site, and its owner ends what an invitation gave. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { accountButton, formsFor, pageOptions, sendPage } from '#api/plugins/browser.ts';
import type { Deps } from '#runtime/deps.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import { invitedPage } from '#web/pages/invitation.ts';
import { noticePage } from '#web/pages/notice.ts';
import { endInvited, findInvited } from './invited.ts';
import { leaveSite } from './rules.ts';

type Named = { Params: { id: string } };

/** All routes require a session. Opening a page ends nothing. */
export function collaboratorPages(app: Api, deps: Deps): void {
  accountButton(
    app,
    '/account/sites/:id/leave',
    pageOptions('collaborator.leave_on_page', 'email_signin'),
    ({ em, actor, params }) => leaveSite(em, deps, actor, params.id),
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

const notFound = noticePage({
  title: 'We can’t find this invitation',
  text: 'It belongs to a website of a different account. If the website is yours, sign out and sign in with its owner’s address.',
  link: toAccount,
});

const ended = noticePage({
  title: 'They have no access',
  text: 'The invitation has ended, and with it the access that it gave. If you do not recognise the agent that sent it, revoke its token on your account page.',
  lit: true,
  link: toAccount,
});
