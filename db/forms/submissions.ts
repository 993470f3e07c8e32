/** Submissions of forms: counts, used challenges, and the sweep. An expired submission is hidden from every reader. */

import { textArray } from '#db/arrays.ts';
import type { EntityManager } from '#db/orm.ts';
import type { MailStatus } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';
import { Form } from './form.ts';
import { Submission } from './submission.ts';

/** How many submissions a form has, and the status of the newest e-mail about one; null if there was none. */
export type SubmissionsSummary = { count: number; mail: MailStatus | null };

/** The summary of each of the forms that have submissions. */
export async function summarizeSubmissions(
  em: EntityManager,
  formIds: string[],
  now: Date,
): Promise<Map<string, SubmissionsSummary>> {
  const rows = await em.execute<({ form_id: string } & SubmissionsSummary)[]>(
    `select counted.form_id, counted.count, newest.status as mail
     from (select form_id, count(*)::int as count from submission
       where form_id = any(?::text[]) and expires_at > ? group by form_id) as counted
     left join lateral (select m.status from submission s join mail m on m.id = s.mail_id
       where s.form_id = counted.form_id and s.expires_at > ? order by s.id desc limit 1) as newest on true`,
    [textArray(formIds), now, now],
  );
  return new Map(rows.map(({ form_id, count, mail }) => [form_id, { count, mail }]));
}

/** Names of the fields that have a value in any submission. */
export async function namesAnswered(em: EntityManager, formId: string, now: Date): Promise<Set<string>> {
  const rows = await em.execute<{ name: string }[]>(
    `select distinct answer ->> 0 as name from submission, jsonb_array_elements("values") as answer
     where form_id = ? and expires_at > ?`,
    [formId, now],
  );
  return new Set(rows.map(({ name }) => name));
}

/** Removes the form with its submissions, and their queued mails. */
export async function removeForm(tx: EntityManager, clock: Clock, formId: string): Promise<void> {
  await dropMails(tx, clock, { where: 'form_id = ?', id: formId, failure: 'its form was removed' });
  await tx.nativeDelete(Form, { id: formId });
}

/** Removes one submission, and its queued mails. */
export async function removeSubmission(tx: EntityManager, clock: Clock, id: string): Promise<void> {
  await dropMails(tx, clock, { where: 'id = ?', id, failure: 'its submission was removed' });
  await tx.nativeDelete(Submission, { id });
}

async function dropMails(
  tx: EntityManager,
  clock: Clock,
  { where, id, failure }: { where: string; id: string; failure: string },
): Promise<void> {
  await tx.execute(
    `update mail set status = 'failed', failure = ?, sealed = null, settled_at = ?
     where status = 'queued' and id in
       (select unnest(array[mail_id, acknowledgement_id]) from submission where ${where})`,
    [failure, clock.now(), id],
  );
}

/** Deletes expired submissions. Returns how many. */
export async function sweepForms(em: EntityManager, now: Date): Promise<number> {
  return (await em.execute<unknown[]>('delete from submission where expires_at <= ? returning 1', [now])).length;
}
