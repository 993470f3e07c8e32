/** A form's submissions for its owner: in pages, and as one file. */
import { Readable } from 'node:stream';
import { byId, type Page, type PageQuery, page } from '#api/pagination.ts';
import type { Form, FormField } from '#db/forms/form.ts';
import { Submission } from '#db/forms/submission.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Deps } from '#runtime/deps.ts';
import { csvHead, csvLine, type Exported } from './csv.ts';
import type { WholeSubmission } from './schemas.ts';

const batch = 500;

/** Newest first, without expired ones. */
export async function submissionsPage(
  em: EntityManager,
  { clock, config }: Pick<Deps, 'clock' | 'config'>,
  form: Form,
  query: PageQuery & { since?: Date | undefined },
): Promise<Page<WholeSubmission>> {
  const read = readerOf(em, form.id, clock.now(), query.since);
  return await page(config.secret, ['submissions', form.id, query.since?.toISOString() ?? ''], query, read, byId);
}

/** The same as a file, streamed from the database at the client's speed. */
export function submissionsFile(
  { em, clock }: Pick<Deps, 'em' | 'clock'>,
  form: { id: string; fields: FormField[] },
  since: Date | undefined,
): Readable {
  async function* lines(): AsyncGenerator<string> {
    yield csvHead(form.fields);
    let after: string | undefined;
    for (;;) {
      // Each part in its own query: no transaction stays open for a slow client.
      const rows = await readerOf(em(), form.id, clock.now(), since)(after, batch);
      yield rows.map((row) => csvLine(form.fields, exported(row))).join('');
      if (rows.length < batch) return;
      after = rows.at(-1)?.id;
    }
  }
  return Readable.from(lines(), { objectMode: false });
}

function readerOf(em: EntityManager, formId: string, now: Date, since: Date | undefined) {
  return async (after: string | undefined, limit: number): Promise<WholeSubmission[]> =>
    (await em.find(
      Submission,
      {
        form: formId,
        expiresAt: { $gt: now },
        ...(since === undefined ? {} : { createdAt: { $gte: since } }),
        ...(after === undefined ? {} : { id: { $lt: after } }),
      },
      { orderBy: { id: 'desc' }, limit, populate: ['mail'] },
    )) as WholeSubmission[];
}

const exported = ({ id, createdAt, page: path, values }: WholeSubmission): Exported => ({
  id,
  createdAt,
  page: path ?? '',
  values,
});
