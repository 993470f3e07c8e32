import { z } from 'zod';
import { mailStatus, shownMailStatus } from '#api/mail-status.ts';
import { pageQuery } from '#api/pagination.ts';
import { instant, moment } from '#api/schemas.ts';
import type { Form } from '#db/forms/form.ts';
import type { Submission } from '#db/forms/submission.ts';
import type { SubmissionsSummary } from '#db/forms/submissions.ts';
import type { Mail } from '#db/mail/mail.ts';
import type { Config } from '#runtime/config.ts';
import { embedOf, formAddress } from './embed.ts';
import { fieldAnswer, formFields } from './fields.ts';
import { acknowledgementText, formTexts } from './texts.ts';

const name = z
  .string()
  .trim()
  .min(1)
  .max(120)
  .refine((text) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text), 'a name must be a single line of text')
  .describe('The title of the form’s page and e-mails.');
const notifyTo = z
  .string()
  .describe(
    'The address that receives an e-mail about each submission, one of notify_options. The default is the owner’s.',
  );

const acknowledge = z
  .strictObject({ text: acknowledgementText })
  .nullable()
  .describe(
    'An e-mail to each visitor who fills in a field of kind email, at most one a day to an address. null: none is sent.',
  );
const replyTo = z
  .string()
  .nullable()
  .describe(
    'The address to which visitors reply to an acknowledgement, one of notify_options. They see it. null: none.',
  );

/** What a form may have besides its name and fields. */
const extras = z.strictObject({ ...formTexts, acknowledge, reply_to: replyTo, notify_to: notifyTo }).partial();
export const formInput = extras.extend({ name, fields: formFields });
export const formChange = extras.extend({
  name: name.optional(),
  fields: formFields.optional().describe('The complete list of fields, which replaces the current list.'),
});
export const deleteQuery = z.strictObject({
  confirm: z.enum(['true', 'false']).optional().describe('Must be true, because a submission cannot be restored.'),
});

export const formSchema = z
  .object({
    id: z.string(),
    site_id: z.string(),
    name: z.string(),
    action_url: z.string().describe('The URL for the HTML form’s action attribute. It never changes.'),
    embed: z
      .string()
      .describe(
        'The form’s HTML, for a page of the site. It contains the current fields: paste it again after they change.',
      ),
    embed_url: z.string().describe('The URL of a page that shows the form and its HTML to a person.'),
    status: z.enum(['enabled', 'disabled']),
    fields: z.array(fieldAnswer),
    notify_to: z.string(),
    notify_options: z.array(z.string()).describe('The allowed values of notify_to and reply_to.'),
    button: z.string().nullable(),
    thanks: z.string().nullable(),
    fallback: z.string().nullable(),
    return_path: z.string().nullable(),
    reply_to: z.string().nullable(),
    acknowledge: z.object({ text: z.string() }).nullable(),
    submissions: z.number().int().describe('Number of stored submissions, including those marked as spam.'),
    mail: mailStatus
      .nullable()
      .describe(
        'Status of the newest e-mail about a submission to notify_to. null: there was none yet, or this platform does not send e-mail. Submissions are stored anyway; read them with the API.',
      ),
    challenge: z
      .object({ kind: z.enum(['altcha', 'hosted']), url: z.string() })
      .describe('The spam challenge for a visitor’s browser; the widget solves it.'),
    created_at: moment,
  })
  .meta({ id: 'Form' });

export const submissionsQuery = pageQuery.extend({
  since: instant.optional().describe('Only submissions received at or after this time.'),
  spam: z
    .enum(['true', 'false'])
    .default('false')
    .describe('true: only the submissions marked as spam, which are not listed otherwise.'),
  format: z.enum(['json', 'csv']).default('json').describe('csv: all submissions in one file, regardless of limit.'),
});

export const submissionSchema = z
  .object({
    id: z.string(),
    form_id: z.string(),
    fields: z
      .record(z.string(), z.union([z.string(), z.array(z.string())]))
      .describe('The answers by field name. An answer is a list if several options were chosen.'),
    page: z.string().nullable().describe('The path of the page from which the form was sent, if known.'),
    created_at: moment,
    expires_at: moment.describe('When the submission will be deleted.'),
    mail: mailStatus
      .nullable()
      .describe(
        'Status of the e-mail to notify_to. not_sent: it could not be delivered. null: this platform did not send e-mail when the submission arrived.',
      ),
    acknowledgement: mailStatus
      .nullable()
      .describe('Status of the e-mail to the visitor. null: none, because the form sends none or has sent one today.'),
    spam: z.boolean(),
  })
  .meta({ id: 'Submission' });

export const submissionChange = z.strictObject({
  spam: z.boolean().describe('Submissions marked as spam are listed with ?spam=true only, and are not in the inbox.'),
});

export type FormContext = {
  config: Config;
  /** Undefined if it has no submission. */
  summary: SubmissionsSummary | undefined;
  notifyTo: string;
  replyTo: string | null;
  notifyOptions: string[];
};

export function formView(form: Form, context: FormContext): z.output<typeof formSchema> {
  const { config } = context;
  const address = formAddress(config, form.id);
  return {
    id: form.id,
    site_id: form.site.id,
    name: form.name,
    action_url: address,
    embed: embedOf(config, form),
    embed_url: `${address}/embed.html`,
    status: form.status,
    fields: form.fields,
    notify_to: context.notifyTo,
    notify_options: context.notifyOptions,
    button: form.button ?? null,
    thanks: form.thanks ?? null,
    fallback: form.fallback ?? null,
    return_path: form.returnPath ?? null,
    reply_to: context.replyTo,
    acknowledge: form.acknowledgement ? { text: form.acknowledgement } : null,
    submissions: context.summary?.count ?? 0,
    mail: context.summary?.mail ? shownMailStatus({ status: context.summary.mail }) : null,
    challenge: { kind: config.challenge?.kind === 'altcha' ? 'altcha' : 'hosted', url: `${address}/challenge` },
    created_at: form.createdAt,
  };
}

/** A submission loaded with its mails. */
export type WholeSubmission = Submission & { mail?: Mail | null; acknowledgement?: Mail | null };

export function submissionView(submission: WholeSubmission): z.output<typeof submissionSchema> {
  const { id, form, values, page, createdAt, expiresAt, mail, acknowledgement, spam } = submission;
  return {
    id,
    form_id: form.id,
    // Built from entries: no name in it can reach a prototype.
    fields: Object.fromEntries(values),
    page: page ?? null,
    created_at: createdAt,
    expires_at: expiresAt,
    mail: mail ? shownMailStatus(mail) : null,
    acknowledgement: acknowledgement ? shownMailStatus(acknowledgement) : null,
    spam,
  };
}
