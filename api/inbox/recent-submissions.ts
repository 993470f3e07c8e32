/** New submissions of forms. */
import { Submission, type SubmittedValue } from '#db/forms/submission.ts';
import type { EntityManager } from '#db/orm.ts';
import { unfinished } from './done.ts';
import type { InboxItem, Reader, Source } from './item.ts';

// Without the values, which may have a megabyte each.
const fields = ['createdAt', 'form.name', 'form.site.name'] as const;

// Larger ones are stored elsewhere than in the row, and would have to be read whole. The size is that of the stored value.
const linesSql = `select id, "values" from submission where id = any(?) and pg_column_size("values") < 2000`;
const lineMax = 200;

/** The beginning of each short submission, in one line. */
async function linesOf(em: EntityManager, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows: { id: string; values: SubmittedValue[] }[] = await em.execute(linesSql, [`{${ids.join(',')}}`]);
  return new Map(rows.map(({ id, values }) => [id, lineOf(values)]));
}

function lineOf(values: readonly SubmittedValue[]): string {
  const text = values.map(([name, value]) => `${name}: ${[value].flat().join(', ')}`).join(' · ');
  const line = text.replace(/\s+/g, ' ').toWellFormed();
  return line.length > lineMax ? `${line.slice(0, lineMax).toWellFormed()}…` : line;
}

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
  const lines = await linesOf(
    em,
    found.map(({ id }) => id),
  );
  return found.map(({ id, form, createdAt }): InboxItem => {
    const { name, site } = form;
    const line = lines.get(id);
    return {
      kind: 'new_submission',
      id,
      site: { id: site.id, name: site.name },
      at: createdAt,
      title: `The form ${name} on ${site.name} has a new submission.`,
      ...(line === undefined ? {} : { message: line }),
      nextAction: `Call GET /v1/submissions/${id} to read it.`,
    };
  });
};
