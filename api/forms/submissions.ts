/** A form's submissions for its owner: in pages, and as one file. */

import { Readable } from 'node:stream';
import { LockMode } from '@mikro-orm/core';
import { type Actor, findSite, requireChangeable } from '#api/access.ts';
import { byId, type Page, type PageQuery, page } from '#api/pagination.ts';
import { BookingCalendar } from '#db/bookings/bookable.ts';
import type { Form } from '#db/forms/form.ts';
import { Submission } from '#db/forms/submission.ts';
import { removeSubmission } from '#db/forms/submissions.ts';
import { recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { call } from '#rules/calls/calls.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { isId } from '#runtime/ids.ts';
import { csvHead, csvLine, type Exported } from './csv.ts';
import type { WholeSubmission } from './schemas.ts';

const batch = 500;

/** Those received since a time, marked as spam or not. */
export type Selection = { since?: Date | undefined; spam: boolean };

/** Newest first, without expired ones. */
export async function submissionsPage(
  em: EntityManager,
  { clock, config }: Pick<Deps, 'clock' | 'config'>,
  form: Form,
  query: PageQuery & Selection,
): Promise<Page<WholeSubmission>> {
  const { since, spam } = query;
  const read = readerOf(em, form.id, clock.now(), { since, spam });
  return await page(
    config.secret,
    ['submissions', form.id, since?.toISOString() ?? '', String(spam)],
    query,
    read,
    byId,
  );
}

/** The same as a file, streamed from the database at the client's speed. */
export function submissionsFile({ em, clock }: Pick<Deps, 'em' | 'clock'>, form: Form, selection: Selection): Readable {
  async function* lines(): AsyncGenerator<string> {
    const zone = await zoneOf(em(), form);
    yield csvHead(form.fields, zone);
    let after: string | undefined;
    for (;;) {
      // Each part in its own query: no transaction stays open for a slow client.
      const rows = await readerOf(em(), form.id, clock.now(), selection)(after, batch);
      yield rows.map((row) => csvLine(form.fields, zone, exported(row))).join('');
      if (rows.length < batch) return;
      after = rows.at(-1)?.id;
    }
  }
  return Readable.from(lines(), { objectMode: false });
}

/** The time zone of the site's people, as far as it is known: that of their calendars, if it is one. */
async function zoneOf(em: EntityManager, { site }: Form): Promise<string> {
  const calendars = await em.find(BookingCalendar, { site: site.id, archivedAt: null }, { fields: ['timeZone'] });
  const [zone, ...others] = new Set(calendars.map(({ timeZone }) => timeZone));
  return zone !== undefined && others.length === 0 ? zone : 'UTC';
}

/** The submission, if the caller may act on its form's site. */
export async function loadSubmission(
  em: EntityManager,
  { clock }: Pick<Deps, 'clock'>,
  actor: Actor,
  id: string,
): Promise<WholeSubmission> {
  const populate = ['form.site', 'mail', 'acknowledgement'] as const;
  const found = isId('sub', id)
    ? await em.findOne(Submission, { id, expiresAt: { $gt: clock.now() } }, { populate })
    : null;
  if (found && (await findSite(em, actor, siteOf(found).id))) return found as WholeSubmission;
  throw errors.not_found('No submission with this id is accessible with this token.', {
    nextAction: `Call ${call('form.submissions')} to list a form’s submissions. They are deleted after 180 days.`,
  });
}

/** Marks it as spam or not. The same mark again changes nothing. Throws `site_archived`. */
export async function markSubmission(
  em: EntityManager,
  deps: Pick<Deps, 'clock'>,
  actor: Actor,
  id: string,
  { spam }: { spam: boolean },
): Promise<WholeSubmission> {
  return await em.transactional(async (tx) => {
    const submission = await lockSubmission(tx, deps, actor, id);
    if (submission.spam === spam) return submission;
    submission.spam = spam;
    const detail = { form_id: submission.form.id, spam };
    const subject = { id, name: null };
    recordAct(tx, deps.clock, actor, 'submission.marked', { site: siteOf(submission), subject, detail });
    return submission;
  });
}

/** Deletes it for good. Returns it as it was. Throws `confirm_required`, `site_archived`. */
export async function deleteSubmission(
  em: EntityManager,
  deps: Pick<Deps, 'clock'>,
  actor: Actor,
  id: string,
  { confirmed }: { confirmed: boolean },
): Promise<WholeSubmission> {
  return await em.transactional(async (tx) => {
    const submission = await lockSubmission(tx, deps, actor, id);
    if (!confirmed) {
      throw errors.confirm_required('This permanently deletes the submission.', {
        nextAction: `To confirm, call ${call('submission.delete', { id, confirm: true })}. To keep it out of the list, mark it as spam instead.`,
      });
    }
    const detail = { form_id: submission.form.id };
    const subject = { id, name: null };
    recordAct(tx, deps.clock, actor, 'submission.deleted', { site: siteOf(submission), subject, detail });
    await removeSubmission(tx, deps.clock, id);
    return submission;
  });
}

/** Locked until the transaction ends. */
async function lockSubmission(
  tx: EntityManager,
  deps: Pick<Deps, 'clock'>,
  actor: Actor,
  id: string,
): Promise<WholeSubmission> {
  const submission = await loadSubmission(tx, deps, actor, id);
  requireChangeable(siteOf(submission));
  const locked = await tx.findOne(Submission, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!locked) throw errors.not_found('The submission has just been deleted.');
  return submission;
}

const siteOf = ({ form }: Submission) => (form as Form).site as Site;

function readerOf(em: EntityManager, formId: string, now: Date, { since, spam }: Selection) {
  return async (after: string | undefined, limit: number): Promise<WholeSubmission[]> =>
    (await em.find(
      Submission,
      {
        form: formId,
        expiresAt: { $gt: now },
        spam,
        ...(since === undefined ? {} : { createdAt: { $gte: since } }),
        ...(after === undefined ? {} : { id: { $lt: after } }),
      },
      { orderBy: { id: 'desc' }, limit, populate: ['mail', 'acknowledgement'] },
    )) as WholeSubmission[];
}

const exported = ({ id, createdAt, page: path, values }: WholeSubmission): Exported => ({
  id,
  createdAt,
  page: path ?? '',
  values,
});
