/** The people of a site, and its invitations. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requireOwner } from '#api/access.ts';
import { capabilitiesOf } from '#api/capabilities.ts';
import { sendPage } from '#api/plugins/browser.ts';
import { errors } from '#runtime/errors.ts';
import type { Refused } from '#web/console/frame.ts';
import { type InvitationShown, type MemberShown, memberRemovalPage, peoplePage } from '#web/console/people.ts';
import { sitePath } from '#web/console/tabs.ts';
import { action } from './actions.ts';
import { type Console, consolePage, type Named, siteFrameOf } from './frame.ts';
import { readAll } from './reading.ts';

const base = '/account/sites/:id/people';

export function peoplePages(console: Console): void {
  const { app, deps } = console;
  const member = ({ params }: FastifyRequest) => (params as { member: string }).member;
  const after = (request: FastifyRequest<Named>, notice: string) => ({
    to: sitePath(request.params.id, 'people'),
    notice,
  });

  app.get<Named>(base, consolePage('people'), (request, reply) => show(request, reply, null));
  app.get<{ Params: { id: string; member: string } }>(
    `${base}/:member/remove`,
    consolePage('people_remove'),
    (request, reply) => showRemoval(request, reply, null),
  );

  action(console, {
    path: `${base}/invite`,
    operation: 'collaborator.invite',
    input: ({ params: { id } }, { field }) => ({ id, email: (field('email') ?? '').trim() }),
    done: ({ email }, request) => after(request, `${email} has been invited. The invitation is valid for 14 days.`),
    show,
  });

  action(console, {
    path: `${base}/invitations/:invitation/withdraw`,
    operation: 'collaborator.withdraw',
    input: ({ params }) => ({
      id: params.id,
      invitation_id: (params as unknown as { invitation: string }).invitation,
    }),
    done: ({ email }, request) => after(request, `The invitation for ${email} is withdrawn.`),
    show,
  });

  action(console, {
    path: `${base}/:member/remove`,
    operation: 'collaborator.remove',
    input: (request) => ({ id: request.params.id, account_id: member(request) }),
    done: ({ name }, request) => after(request, `${name} no longer has access to this site.`),
    show: showRemoval,
  });

  async function show(request: FastifyRequest<Named>, reply: FastifyReply, refused: Refused | null) {
    const { frame } = await siteFrameOf(request, reply, deps, refused);
    const asked = { id: request.params.id };
    const { items: members } = await readAll<MemberShown>(console, request, 'collaborator.list', asked);
    const { items: invitations } =
      frame.site.role === 'owner'
        ? await readAll<InvitationShown>(console, request, 'collaborator.invitations', asked)
        : { items: [] };
    const mails = capabilitiesOf(deps.config).mail;
    const view = { members, self: request.actor.accountId, invitations, mails };
    return sendPage(reply, peoplePage(frame, view), refused?.status);
  }

  async function showRemoval(request: FastifyRequest<Named>, reply: FastifyReply, refused: Refused | null) {
    const { site, frame } = await siteFrameOf(request, reply, deps, refused);
    requireOwner(site, request.actor, 'remove a collaborator');
    const asked = { id: request.params.id };
    const { items } = await readAll<MemberShown>(console, request, 'collaborator.list', asked);
    const found = items.find(({ account_id: id, role }) => id === member(request) && role === 'collaborator');
    if (!found) throw errors.not_found('This person is not a collaborator of the site.');
    return sendPage(reply, memberRemovalPage(frame, found), refused?.status);
  }
}
