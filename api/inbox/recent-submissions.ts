/** New submissions of forms. */
import type { FormField } from '#db/forms/form.ts';
import { Submission, type SubmittedValue } from '#db/forms/submission.ts';
import type { EntityManager } from '#db/orm.ts';
import { unfinished } from './done.ts';
import type { InboxItem, Reader, Source } from './item.ts';

// Without the values, which may have a megabyte each.
const fields = ['createdAt', 'form.name', 'form.fields', 'form.site.name'] as const;

// Larger ones are stored elsewhere than in the row, and would have to be read whole. The size is that of the stored value.
const shortSql = `select id, "values" from submission where id = any(?) and pg_column_size("values") < 2000`;
const lineMax = 200;
const nameMax = 100;

type Values = readonly SubmittedValue[];

/** The values of each short submission. */
async function shortOnes(em: EntityManager, ids: readonly string[]): Promise<Map<string, Values>> {
  if (ids.length === 0) return new Map();
  const rows: { id: string; values: Values }[] = await em.execute(shortSql, [`{${ids.join(',')}}`]);
  return new Map(rows.map(({ id, values }) => [id, values]));
}

const lineOf = (values: Values): string =>
  shortened(values.map(([name, value]) => `${name}: ${[value].flat().join(', ')}`).join(' · '), lineMax);

/** The answer to the field `name`, or else to the first one for an e-mail address. */
function visitorOf(values: Values, fields: readonly FormField[]): string | null {
  const asked = [
    fields.find(({ name, kind }) => name.toLowerCase() === 'name' && kind === 'text'),
    fields.find(({ kind }) => kind === 'email'),
  ];
  const answers = asked.map((field) => values.find(([name]) => name === field?.name)?.[1] ?? '');
  const given = answers.flat().find((answer) => answer.trim() !== '');
  return given === undefined ? null : shortened(given.trim(), nameMax);
}

/** The beginning of the text, in one line. */
function shortened(text: string, max: number): string {
  const line = text.replace(/\s+/g, ' ').toWellFormed();
  return line.length > max ? `${line.slice(0, max).toWellFormed()}…` : line;
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
  const short = await shortOnes(
    em,
    found.map(({ id }) => id),
  );
  return found.map(({ id, form, createdAt }): InboxItem => {
    const { name, fields, site } = form;
    const values = short.get(id);
    return {
      kind: 'new_submission',
      id,
      site: { id: site.id, name: site.name },
      who: values ? visitorOf(values, fields) : null,
      at: createdAt,
      title: `The form ${name} on ${site.name} has a new submission.`,
      ...(values ? { message: lineOf(values) } : {}),
      nextAction: `Call GET /v1/submissions/${id} to read it.`,
    };
  });
};
