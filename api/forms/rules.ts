/** Forms: created, changed, closed and deleted by accounts that may act on their site. */

import { LockMode } from '@mikro-orm/core';
import type { z } from 'zod';
import { type Actor, loadSite, lockChangeable, requireAccessible, requireChangeable, roleOf } from '#api/access.ts';
import { notifyAddress, notifyOptions, readNotifyTo, readReplyTo } from '#api/notify-to.ts';
import { countWithinLimit } from '#api/plan-limits.ts';
import { askedFields, Form } from '#db/forms/form.ts';
import { namesAnswered, removeForm, summarizeSubmissions } from '#db/forms/submissions.ts';
import { recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { replyAddress } from '#db/sites/notify-address.ts';
import type { Site } from '#db/sites/site.ts';
import { call } from '#rules/calls/calls.ts';
import type { FormStatus } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { isId } from '#runtime/ids.ts';
import { requireCompatible } from './changes.ts';
import { type FormContext, formChange, type formInput } from './schemas.ts';

export type FormChange = z.output<typeof formChange>;
export type FormInput = z.output<typeof formInput> & { id: string };

/** Throws `site_archived`, `plan_limit`, `invalid_notify_to`, `notify_to_not_on_site`. */
export async function createForm(
  em: EntityManager,
  deps: Pick<Deps, 'clock' | 'config'>,
  actor: Actor,
  siteId: string,
  { id, name, fields, ...extras }: FormInput,
): Promise<Form> {
  const seen = await loadSite(em, actor, siteId);
  requireChangeable(seen);
  return await em.transactional(async (tx) => {
    const site = await lockChangeable(tx, seen.id);
    await countWithinLimit(tx, deps, {
      limit: 'forms_per_site',
      accountId: site.account.id,
      by: roleOf(site, actor),
      count: () => tx.count(Form, { site: site.id }),
      what: 'forms per site',
      holder: 'this site',
      nextAction: `Delete a form that is no longer needed with ${call('form.delete', { confirm: true })}.`,
    });
    const people = await readPeople(tx, site, extras);
    const status: FormStatus = 'enabled';
    recordAct(tx, deps.clock, actor, 'form.created', { site, subject: { id, name } });
    const row = { id, site, name, fields, status, ...textsOf(extras), ...people, createdAt: deps.clock.now() };
    requireAcknowledgeable(row);
    return tx.create(Form, row);
  });
}

/** The form, if the caller may act on its site. */
export async function loadForm(em: EntityManager, actor: Actor, formId: string): Promise<Form> {
  const form = isId('form', formId) ? await em.findOne(Form, { id: formId }, { populate: ['site'] }) : null;
  return await requireAccessible(em, actor, form, { what: 'form', list: 'form.list' });
}

/**
 * Changes the given properties. Stored submissions stay readable: throws `form_fields_removed`, `form_has_submissions` otherwise;
 * `nothing_to_update`, `site_archived`, `invalid_notify_to`, `notify_to_not_on_site`.
 */
export async function changeForm(
  em: EntityManager,
  { clock }: Pick<Deps, 'clock'>,
  actor: Actor,
  formId: string,
  change: FormChange,
): Promise<Form> {
  if (Object.values(change).every((part) => part === undefined)) {
    throw errors.nothing_to_update('The request contains no changes.', {
      nextAction: `Send at least one of ${Object.keys(formChange.shape).join(', ')}.`,
    });
  }
  const { site } = await loadForm(em, actor, formId);
  return await em.transactional(async (tx) => {
    // Before the form's lock: removing a collaborator locks this first and then the forms.
    const people = await readPeople(tx, site as Site, change);
    const form = await lockForm(tx, actor, formId);
    if (change.fields) {
      requireCompatible(form, change.fields, await namesAnswered(tx, form.id, clock.now()));
      form.fields = change.fields;
    }
    form.name = change.name ?? form.name;
    Object.assign(form, textsOf(change), people);
    requireAcknowledgeable(form);
    const fields = Object.keys(change);
    recordAct(tx, clock, actor, 'form.updated', { site: form.site as Site, subject: form, detail: { fields } });
    return form;
  });
}

/** The columns of the given texts. */
function textsOf({ button, thanks, fallback, return_path, acknowledge }: FormChange): Partial<Form> {
  return {
    ...(button === undefined ? {} : { button }),
    ...(thanks === undefined ? {} : { thanks }),
    ...(fallback === undefined ? {} : { fallback }),
    ...(return_path === undefined ? {} : { returnPath: return_path }),
    ...(acknowledge === undefined ? {} : { acknowledgement: acknowledge?.text ?? null }),
  };
}

/** The columns of the given addresses. Throws `invalid_notify_to`, `notify_to_not_on_site`. */
async function readPeople(
  tx: EntityManager,
  site: Site,
  { notify_to, reply_to }: Pick<FormChange, 'notify_to' | 'reply_to'>,
): Promise<Pick<Partial<Form>, 'notifyCollaboratorId' | 'replyToId'>> {
  return {
    ...(notify_to === undefined ? {} : { notifyCollaboratorId: await readNotifyTo(tx, site, notify_to) }),
    ...(reply_to === undefined ? {} : { replyToId: reply_to === null ? null : await readReplyTo(tx, site, reply_to) }),
  };
}

/** Throws `invalid_fields`. */
function requireAcknowledgeable({ acknowledgement, fields }: Partial<Form>): void {
  if (!acknowledgement || askedFields(fields ?? []).some(({ kind }) => kind === 'email')) return;
  throw errors.invalid_fields(
    'An acknowledgement goes to the address that a visitor types, and the form asks for none.',
    {
      nextAction: 'Add a field of kind email, or set acknowledge to null.',
    },
  );
}

/** Closes or reopens the form. The same status again changes nothing. */
export async function setStatus(
  em: EntityManager,
  { clock }: Pick<Deps, 'clock'>,
  actor: Actor,
  formId: string,
  status: FormStatus,
): Promise<Form> {
  return await em.transactional(async (tx) => {
    const form = await lockForm(tx, actor, formId);
    if (form.status === status) return form;
    form.status = status;
    recordAct(tx, clock, actor, `form.${status}`, { site: form.site as Site, subject: form });
    return form;
  });
}

/** Deletes the form with all its submissions. Returns the deleted form. Throws `confirm_required`, `site_archived`. */
export async function deleteForm(
  em: EntityManager,
  deps: Pick<Deps, 'clock' | 'config'>,
  actor: Actor,
  formId: string,
  { confirmed }: { confirmed: boolean },
): Promise<{ form: Form; context: FormContext }> {
  return await em.transactional(async (tx) => {
    const form = await lockForm(tx, actor, formId);
    const context = await contextOf(tx, deps, form);
    if (!confirmed) {
      const count = context.summary?.count ?? 0;
      const what = count === 1 ? 'its one submission' : `its ${count} submissions`;
      throw errors.confirm_required(`This permanently deletes the form ${form.name} and ${what}.`, {
        nextAction: `To confirm, call ${call('form.delete', { id: form.id, confirm: true })}. To keep the submissions, disable the form instead.`,
      });
    }
    const { id, name } = form;
    const detail = { submissions: context.summary?.count ?? 0 };
    recordAct(tx, deps.clock, actor, 'form.deleted', { site: form.site as Site, subject: { id, name }, detail });
    await removeForm(tx, deps.clock, form.id);
    return { form, context };
  });
}

/** The parts of a response about a form that are not in its row. */
export async function contextOf(
  em: EntityManager,
  { clock, config }: Pick<Deps, 'clock' | 'config'>,
  form: Form,
): Promise<FormContext> {
  const site = form.site as Site;
  return {
    config,
    summary: (await summarizeSubmissions(em, [form.id], clock.now())).get(form.id),
    notifyTo: await notifyAddress(em, site, form.notifyCollaboratorId),
    replyTo: await replyAddress(em, site, form.replyToId),
    notifyOptions: await notifyOptions(em, site),
  };
}

/** The form of an active site, locked until the transaction ends: a new submission waits, or is already stored. */
async function lockForm(tx: EntityManager, actor: Actor, formId: string): Promise<Form> {
  const { id, site } = await loadForm(tx, actor, formId);
  requireChangeable(site as Site);
  const form = await tx.findOne(Form, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!form) throw errors.not_found('The form has just been deleted.');
  return form;
}
