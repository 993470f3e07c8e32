/** New submissions of forms. */
import { Submission } from '#db/forms/submission.ts';
import { call } from '#rules/calls/calls.ts';
import { unfinished } from './done.ts';
import type { InboxItem, Reader, Source } from './item.ts';

// Without the values, which may have a megabyte each.
const fields = ['createdAt', 'sender', 'opening', 'form.name', 'form.site.name'] as const;

export const recentSubmissions: Source = async (em, { siteIds, accountId }: Reader, since, { now, limit }) => {
  const found = await em.find(
    Submission,
    {
      form: { site: { id: { $in: [...siteIds] }, status: 'active' } },
      createdAt: { $gt: since },
      expiresAt: { $gt: now },
      spam: false,
      [unfinished(accountId, { kind: 'new_submission', at: 'created_at' })]: [],
    },
    { fields, orderBy: { id: 'desc' }, limit },
  );
  return found.map(
    ({ id, form: { name, site }, sender = null, opening, createdAt }): InboxItem => ({
      kind: 'new_submission',
      id,
      site: { id: site.id, name: site.name },
      who: sender,
      at: createdAt,
      title: `The form ${name} on ${site.name} has a new submission.`,
      ...(opening ? { message: opening } : {}),
      nextAction: `Call ${call('submission.read', { id })} to read it.`,
    }),
  );
};
