/** An enquiry, from the request body to a row: validated, accepted once, stored, and only then mailed. */

import { LockMode } from '@mikro-orm/core';
import { missing } from '#api/capabilities.ts';
import { requireUnused, verifySolution } from '#api/visitors/challenges.ts';
import { canonicalUrl } from '#db/domains/canonical-url.ts';
import { askedFields, Form, type FormField } from '#db/forms/form.ts';
import { Submission, type SubmittedValue } from '#db/forms/submission.ts';
import { queueAcknowledgement, queueNotice } from '#db/mail/limits.ts';
import type { Mail } from '#db/mail/mail.ts';
import type { EntityManager } from '#db/orm.ts';
import { isClosed } from '#db/sites/blocks.ts';
import { notifyAddress, replyAddress } from '#db/sites/notify-address.ts';
import { Site } from '#db/sites/site.ts';
import { call } from '#rules/calls/calls.ts';
import { mailTitleOf } from '#rules/mail-titles.ts';
import { dayMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { isId, newId } from '#runtime/ids.ts';
import { ownerPage } from '#runtime/owner-pages.ts';
import { summaryOf } from './summary.ts';
import { type RawValues, validateValues } from './values.ts';

const keptMs = 180 * dayMs;

export type VisitedForm = Form & { site: Site };

/** Anyone with the id may read the form's fields and send to it. Throws `not_found`. */
export async function visitForm(em: EntityManager, formId: string): Promise<VisitedForm> {
  const form = isId('form', formId) ? await em.findOne(Form, { id: formId }, { populate: ['site'] }) : null;
  if (form) return form as VisitedForm;
  throw errors.not_found('We can’t find this form.');
}

/** Throws `forms_disabled`, or `site_archived` if the form is closed. */
export function requireOpenForm({ config }: Pick<Deps, 'config'>, form: VisitedForm): void {
  const off = missing(config, 'forms');
  if (off) throw off;
  if (isClosed(form.site))
    throw errors.site_archived('This website has been archived and no longer accepts enquiries.');
  if (form.status === 'disabled') throw errors.forms_disabled('This form is not accepting enquiries at the moment.');
}

export type NewSubmission = { given: RawValues; solution: string | undefined; page: string | null };

/**
 * Stores the submission and queues its mail in the same transaction: an accepted submission is stored whatever happens to the mail.
 * Throws `invalid_fields`, `not_a_person`, `forms_disabled`, `site_archived`, `provider_error`.
 */
export async function receiveSubmission(
  em: EntityManager,
  deps: Deps,
  form: VisitedForm,
  { given, solution, page }: NewSubmission,
): Promise<Submission> {
  requireOpenForm(deps, form);
  // Before the challenge: a visitor who mistyped something need not solve a second one.
  requireUsable(askedFields(form.fields), given);
  const solved = await verifySolution(deps, form.id, solution, challenged);
  return await em.transactional(async (tx) => {
    const locked = await lockFormForShare(tx, form.id);
    // The form may have changed while the request was being read.
    requireOpenForm(deps, locked);
    const values = requireUsable(askedFields(locked.fields), given);
    await requireUnused(tx, solved, challenged);
    const now = deps.clock.now();
    const id = newId('sub');
    const mail = deps.config.mail ? await mailSubmission(tx, deps, locked, { id, values, page }) : null;
    const acknowledgement = deps.config.mail ? await acknowledge(tx, deps, locked, values) : null;
    const expiresAt = new Date(now.getTime() + keptMs);
    const summary = summaryOf(values, locked.fields);
    const received = { values, ...summary, page, mail, acknowledgement, spam: false, createdAt: now, expiresAt };
    return tx.create(Submission, { id, form: locked, ...received });
  });
}

/** The form, which cannot change until the transaction ends. */
async function lockFormForShare(tx: EntityManager, id: string): Promise<VisitedForm> {
  const form = await tx.findOne(Form, { id }, { lockMode: LockMode.PESSIMISTIC_READ, refresh: true });
  if (!form) throw errors.not_found('We can’t find this form.');
  await tx.findOneOrFail(Site, { id: form.site.id }, { refresh: true });
  return form as VisitedForm;
}

function requireUsable(fields: readonly FormField[], given: RawValues): SubmittedValue[] {
  const { values, faults } = validateValues(fields, given);
  if (faults.length > 0) throw errors.invalid_fields(faults.map(({ message }) => message).join(' '));
  if (values.length === 0) throw errors.invalid_fields('The form is empty.');
  return values;
}

const challenged = { what: 'This form', call: call('form.challenge') } as const;

async function mailSubmission(
  tx: EntityManager,
  deps: Deps,
  form: VisitedForm,
  { id, values, page }: { id: string; values: SubmittedValue[]; page: string | null },
): Promise<Mail> {
  const labels = new Map(form.fields.map(({ name, label }) => [name, label]));
  const answers = values.map(([name, value]) => ({
    label: labels.get(name) ?? name,
    text: Array.isArray(value) ? value.join('\n') : value,
  }));
  const replyTo = addressOf(form, values);
  const { hostname } = await canonicalUrl(tx, deps.config, form.site);
  const account = ownerPage(deps.config, `/account/sites/${form.site.id}/messages/${id}`);
  return await queueNotice(tx, deps, {
    kind: 'submission',
    to: await notifyAddress(tx, form.site, form.notifyCollaboratorId),
    data: { hostname, formName: form.name, answers, page, account },
    ...(replyTo === undefined ? {} : { replyTo }),
    site: form.site,
  });
}

/** Queues the e-mail to the visitor, if the form sends one and has sent none to this address today. */
async function acknowledge(
  tx: EntityManager,
  deps: Deps,
  form: VisitedForm,
  values: readonly SubmittedValue[],
): Promise<Mail | null> {
  const to = addressOf(form, values);
  if (!form.acknowledgement || to === undefined) return null;
  const { hostname } = await canonicalUrl(tx, deps.config, form.site);
  const replyTo = await replyAddress(tx, form.site, form.replyToId);
  return await queueAcknowledgement(tx, deps, form.id, {
    kind: 'submission-received',
    to,
    data: { hostname, title: mailTitleOf(form.site.title, hostname), text: form.acknowledgement },
    ...(replyTo === null ? {} : { replyTo }),
    site: form.site,
  });
}

/** The address that the visitor typed into the first field of kind email. */
function addressOf(form: VisitedForm, values: readonly SubmittedValue[]): string | undefined {
  const given = new Map(values);
  const address = askedFields(form.fields)
    .filter(({ kind }) => kind === 'email')
    .map(({ name }) => given.get(name))
    .find((value) => value !== undefined);
  return typeof address === 'string' ? address : undefined;
}
