import type { Loaded } from '@mikro-orm/core';
import { z } from 'zod';
import { mailStatus, shownMailStatus } from '#api/mail-status.ts';
import { moment } from '#api/schemas.ts';
import type { Invitation } from '#db/collaborators/invitation.ts';
import { call } from '#rules/calls/calls.ts';
import { invitationStatusAt } from '#rules/states.ts';
import type { Config } from '#runtime/config.ts';
import { siteHostname } from '#runtime/site-addresses.ts';

/** The address is validated by the rule, which has its own error code. */
export const invitationInput = z.strictObject({ email: z.string().describe('The address to invite.') });

export const invitationSchema = z
  .object({
    id: z.string(),
    site: z.object({ id: z.string(), hostname: z.string() }),
    invited_by: z.object({ name: z.string(), email: z.string() }).describe('The account of the site’s owner.'),
    email: z.string().describe('The invited address.'),
    status: z
      .enum(['open', 'accepted', 'declined', 'withdrawn', 'expired'])
      .describe('`declined` by the invited person, `withdrawn` by the owner: both free the address.'),
    expires_at: moment,
    mail: mailStatus.describe(
      'Status of the invitation e-mail. not_sent: it could not be delivered, or a limit was reached; the invitation is valid without it.',
    ),
    created_at: moment,
    next_action: z.string().optional(),
  })
  .meta({ id: 'Invitation' });

/** In a site's list, the id has a second name: that of the parameter in the site's operations. */
export const siteInvitationSchema = invitationSchema
  .extend({ invitation_id: z.string().describe('The same as `id`.') })
  .meta({ id: 'SiteInvitation' });

export type WholeInvitation = Loaded<Invitation, 'site.account' | 'mail'>;
type Context = { config: Config; now: Date };

function view(invitation: WholeInvitation, { config, now }: Context) {
  const { id, site, email, mail, createdAt, expiresAt } = invitation;
  return {
    id,
    site: { id: site.id, hostname: siteHostname(config, site.name) },
    invited_by: { name: site.account.name, email: site.account.email },
    email,
    status: invitationStatusAt(invitation, now),
    expires_at: expiresAt,
    mail: shownMailStatus(mail),
    created_at: createdAt,
  };
}

/** For the recipient. */
export function invitationView(invitation: WholeInvitation, context: Context): z.output<typeof invitationSchema> {
  const shown = view(invitation, context);
  const nextAction = `If the owner of this account agrees, accept the invitation with ${call('invitation.accept', { id: shown.id })}. To decline it, call ${call('invitation.decline', { id: shown.id })}.`;
  return shown.status === 'open' ? { ...shown, next_action: nextAction } : shown;
}

/** For the owner of the site. */
export function siteInvitationView(
  invitation: WholeInvitation,
  context: Context,
): z.output<typeof siteInvitationSchema> {
  const shown = view(invitation, context);
  const nextAction = remedy(shown);
  return { ...shown, invitation_id: shown.id, ...(nextAction === undefined ? {} : { next_action: nextAction }) };
}

function remedy({ id, site, status, mail, email }: ReturnType<typeof view>): string | undefined {
  const withdrawal = call('collaborator.withdraw', { id: site, invitation_id: id });
  if (status === 'expired') return `Withdraw the invitation with ${withdrawal}, then invite ${email} again.`;
  if (status !== 'open') return undefined;
  if (mail === 'not_sent') {
    return `The e-mail was not sent. Ask ${email} to sign in with this address, or to read ${call('invitation.list')} with an agent. If the address is wrong, withdraw the invitation with ${withdrawal}.`;
  }
  return `Wait for ${email} to accept the invitation. To check later, call ${call('collaborator.list', { id: site })}.`;
}
