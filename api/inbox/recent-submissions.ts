/** New submissions of forms. */
import { Submission } from '#db/forms/submission.ts';
import { type InboxItem, itemsMax, type Reader, type Source } from './item.ts';

export const recentSubmissions: Source = async (em, { siteIds }: Reader, since, { now }) => {
  const found = await em.find(
    Submission,
    {
      form: { site: { id: { $in: [...siteIds] }, status: 'active' } },
      createdAt: { $gt: since },
      expiresAt: { $gt: now },
    },
    { orderBy: { id: 'desc' }, limit: itemsMax, populate: ['form.site'] },
  );
  return found.map(({ id, form, createdAt }): InboxItem => {
    const { id: formId, name, site } = form as typeof form & { name: string; site: { id: string; name: string } };
    return {
      kind: 'new_submission',
      id,
      site: { id: site.id, name: site.name },
      at: createdAt,
      title: `The form ${name} on ${site.name} has a new submission.`,
      nextAction: `Call GET /v1/forms/${formId}/submissions to read it.`,
    };
  });
};
