import { z } from 'zod';
import { pageQuery } from '#api/pages.ts';
import { moment } from '#api/schemas.ts';
import type { Form } from '#db/forms/form.ts';
import type { Submission } from '#db/forms/submission.ts';
import type { Mail } from '#db/mail/mail.ts';
import type { Config } from '#runtime/config.ts';
import { embedOf, formAddress } from './embed.ts';
import { fieldAnswer, fieldList } from './fields.ts';

const name = z
  .string()
  .trim()
  .min(1)
  .max(120)
  .refine((text) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text), 'a name is one line of text')
  .describe('What people call it: at the head of its page and of its mails.');
const notifyTo = z.string().describe('Who hears of each enquiry: one of notify_options. By default the owner.');

export const formInput = z.strictObject({ name, fields: fieldList(1), notify_to: notifyTo.optional() });
export const formChange = z.strictObject({
  name: name.optional(),
  fields: fieldList(1).optional().describe('The whole list, which takes the place of the present one.'),
  notify_to: notifyTo.optional(),
});
export const deleteQuery = z.strictObject({
  confirm: z.enum(['true', 'false']).optional().describe('Has to be true: the submissions go too.'),
});

export const formSchema = z
  .object({
    id: z.string(),
    site_id: z.string(),
    name: z.string(),
    action_url: z.string().describe('Where the HTML sends to. It never changes.'),
    embed: z
      .string()
      .describe(
        'HTML of the form, for a page of the site. It holds the fields as they are now: paste it anew when they change.',
      ),
    embed_url: z.string().describe('A page that shows the form, and this HTML, to a person.'),
    status: z.enum(['enabled', 'disabled']),
    fields: z.array(fieldAnswer),
    notify_to: z.string(),
    notify_options: z.array(z.string()).describe('The legal values of notify_to.'),
    submissions: z.number().int().describe('How many are kept.'),
    mail: z
      .enum(['sent', 'not_configured'])
      .describe('not_configured: this platform sends no mail; enquiries are stored and wait to be read.'),
    challenge: z
      .object({ kind: z.enum(['altcha', 'hosted']), url: z.string() })
      .describe('What a visitor’s browser solves; the widget does it.'),
    created_at: moment,
  })
  .meta({ id: 'Form' });

export const submissionsQuery = pageQuery.extend({
  since: z.iso.datetime({ offset: true }).optional().describe('Those that came at this moment or later.'),
  format: z.enum(['json', 'csv']).default('json').describe('csv: all of them as one file, whatever limit says.'),
});

export const submissionSchema = z
  .object({
    id: z.string(),
    form_id: z.string(),
    fields: z
      .record(z.string(), z.union([z.string(), z.array(z.string())]))
      .describe('What was answered; a list where several were chosen.'),
    page: z.string().nullable().describe('The path it was sent from, where that is known.'),
    created_at: moment,
    expires_at: moment.describe('From then on it is gone.'),
    mail: z.enum(['sent', 'queued', 'failed', 'not_configured']).describe('What became of the mail to notify_to.'),
  })
  .meta({ id: 'Submission' });

export type FormContext = {
  config: Config;
  submissions: number;
  notifyTo: string;
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
    submissions: context.submissions,
    mail: config.mail ? 'sent' : 'not_configured',
    challenge: { kind: config.challenge?.kind === 'altcha' ? 'altcha' : 'hosted', url: `${address}/challenge` },
    created_at: form.createdAt,
  };
}

/** A submission whose mail has been read with it. */
export type WholeSubmission = Submission & { mail?: Mail | null };

export function submissionView(submission: WholeSubmission): z.output<typeof submissionSchema> {
  const { id, form, values, page, createdAt, expiresAt, mail } = submission;
  return {
    id,
    form_id: form.id,
    // Made of entries: no name in it can reach a prototype.
    fields: Object.fromEntries(values),
    page: page ?? null,
    created_at: createdAt,
    expires_at: expiresAt,
    mail: mail?.status ?? 'not_configured',
  };
}
