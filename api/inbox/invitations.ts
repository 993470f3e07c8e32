/** Open invitations to the reader's account. */

import { addressedTo } from '#api/invitations/rules.ts';
import { Invitation } from '#db/collaborators/invitation.ts';
import { call } from '#rules/calls/calls.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import { unfinished } from './done.ts';
import type { InboxItem, Source } from './item.ts';

/**
 * The title contains the site's host name and not its title, and the inviter's address, as in the e-mail: the recipient
 * may not know the inviter.
 */
export const openInvitations: Source = async (em, reader, since, { config, now, limit }) => {
  const invitations = await em.find(
    Invitation,
    {
      $and: [
        await addressedTo(em, { now: () => now }, reader),
        { createdAt: { $gt: since } },
        { [unfinished(reader.accountId, { kind: 'invitation', at: 'created_at' })]: [] },
      ],
    },
    { populate: ['site.account'], orderBy: { createdAt: 'desc' }, limit },
  );
  return invitations.map(
    ({ id, site, createdAt }): InboxItem => ({
      kind: 'invitation',
      id,
      site: { id: site.id, name: site.name },
      who: site.account.name,
      at: createdAt,
      title: `${site.account.name} (${site.account.email}) has invited this account to work on ${siteHostname(config, site.name)}.`,
      nextAction: `If the owner of this account agrees, accept the invitation with ${call('invitation.accept', { id })}. To decline it, call ${call('invitation.decline', { id })}.`,
    }),
  );
};
