/** Invitations in a signed-in browser: the page behind the mailed link, and its button. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { action, showRefusal } from '#api/console/actions.ts';
import type { Console } from '#api/console/frame.ts';
import { formsFor, pageOptions, sendPage } from '#api/plugins/browser.ts';
import { Account } from '#db/accounts/account.ts';
import { invitationStatusAt } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { AppError } from '#runtime/errors.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import type { InvitationShown } from '#web/console/home/home.ts';
import { html } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
import { confirmationPage } from '#web/pages/confirmation.ts';
import { type InvitationPage, invitationPage } from '#web/pages/invitation.ts';
import { type Notice, noticePage } from '#web/pages/notice.ts';
import { loadInvitation, type WholeInvitation } from './rules.ts';

type Named = { Params: { id: string } };

/** All routes require a session. Others are redirected to sign in, and find the invitation on their account page. */
export function invitationPages(console: Console): void {
  const { app, deps } = console;
  app.get<Named>('/invitations/:id', pageOptions('invitation.show', 'email_signin'), (request, reply) =>
    showOpen(request, reply, deps, invitationPage),
  );

  action(console, {
    path: '/account/invitations/:id/accept',
    operation: 'invitation.accept',
    input: ({ params: { id } }) => ({ id }),
    done: () => ({ to: '/account', notice: 'The invitation is accepted. You can now edit this site.' }),
    show: showRefusal,
  });

  app.get<Named>(
    '/account/invitations/:id/decline',
    pageOptions('invitation.show_declining', 'email_signin'),
    (request, reply) => showOpen(request, reply, deps, declinePage),
  );

  action(console, {
    path: '/account/invitations/:id/decline',
    operation: 'invitation.decline',
    input: ({ params: { id } }) => ({ id }),
    done: async (_answer, { em, actor, params }) => {
      const { site } = await loadInvitation(em, actor, params.id);
      return { page: noticePage(declinedNotice(siteHostname(deps.config, site.name))) };
    },
    show: showRefusal,
  });
}

function shown({ id, site, expiresAt }: WholeInvitation, { config }: Deps): InvitationShown {
  const { name, email } = site.account;
  return { id, hostname: siteHostname(config, site.name), inviter: `${name} (${email})`, expiresAt };
}

/** Shows a page about an invitation that can still be answered. */
async function showOpen(
  request: FastifyRequest<Named>,
  reply: FastifyReply,
  deps: Deps,
  pageOf: (shown: InvitationPage) => WrittenPage,
) {
  const { em, actor, params } = request;
  const found = await loadInvitation(em, actor, params.id).catch((error) => {
    if (error instanceof AppError && error.status < 500) return null;
    throw error;
  });
  const { email } = await em.findOneOrFail(Account, actor.accountId);
  const closed = found ? closedNotice(found, deps) : invitationNotFound(email);
  if (!found || closed) return sendPage(reply, noticePage(closed ?? invitationNotFound(email)), found ? 410 : 404);
  const form = formsFor(request, reply, deps);
  return sendPage(reply, pageOf({ form, email, ...shown(found, deps) }));
}

const declinePage = ({ form, id, hostname, inviter }: InvitationPage) =>
  confirmationPage({
    form,
    action: `/account/invitations/${id}/decline`,
    title: 'Decline this invitation?',
    lead: html`<strong>${inviter}</strong>, the owner of ${hostname}, invited you to edit this site with them.`,
    button: 'Decline',
    hint: 'After this, only a new invitation gives you access. To decide later, go back; nothing will change.',
  });

const declinedNotice = (hostname: string): Notice => ({
  title: 'You have declined this invitation',
  text: `If you want to work on ${hostname} after all, ask the site’s owner to invite you again.`,
  link: toAccount,
});

const toAccount = { href: '/account', text: 'Your account' };

function invitationNotFound(email: string): Notice {
  return {
    title: 'We can’t find this invitation',
    text: `There is no such invitation for ${email}. If it was sent to a different address, sign out and sign in with that address.`,
    link: toAccount,
  };
}

/** Why the invitation cannot be accepted; undefined if it can. */
function closedNotice(invitation: WholeInvitation, { clock, config }: Deps): Notice | undefined {
  const hostname = siteHostname(config, invitation.site.name);
  const status = invitationStatusAt(invitation, clock.now());
  if (status === 'accepted') {
    return {
      title: 'You have accepted this invitation',
      text: `You can now edit ${hostname}.`,
      lit: true,
      link: toAccount,
    };
  }
  if (status === 'declined') return declinedNotice(hostname);
  if (status === 'expired') {
    return {
      title: 'This invitation has expired',
      text: `You were invited to work on ${hostname}. Ask the site’s owner to invite you again.`,
      link: toAccount,
    };
  }
  return undefined;
}
