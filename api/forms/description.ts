/** A form as visitors see it: as data for their agents, and for our pages. */
import { z } from 'zod';
import { howToSolve } from '#api/visitors/challenges.ts';
import type { CanonicalUrl } from '#db/domains/canonical-url.ts';
import { askedFields } from '#db/forms/form.ts';
import type { Deps } from '#runtime/deps.ts';
import type { ShownForm } from '#web/pages/visitors/form-page.ts';
import { embedOf, formAddress, withLength } from './embed.ts';
import { fieldAnswer } from './fields.ts';
import { widgetFiles } from './files.ts';
import { requireOpenForm, type VisitedForm } from './submission.ts';

export const descriptionSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    site: z.string(),
    status: z.enum(['enabled', 'disabled']),
    fields: z.array(fieldAnswer),
    button: z.string().nullable().describe('The text of the button, if its owner chose one.'),
    send: z.object({ method: z.literal('POST'), url: z.string(), content_types: z.array(z.string()), how: z.string() }),
    challenge: z.object({ kind: z.enum(['altcha', 'hosted']), url: z.string(), answer: z.string(), how: z.string() }),
    html: z.string().describe('Ready-to-use HTML for a page of the site.'),
  })
  .meta({ id: 'FormDescription' });

const howToSend =
  'Send one object with the field names as keys. Each value is text, a number, true or false for a checkbox, or a list for checkboxes. ' +
  'Add the solved challenge under the key named in challenge.answer. If the submission is invalid, error.message lists every problem. ' +
  'A submission is stored only once the response confirms it.';

/** Throws `site_archived`, and `forms_disabled` if the platform has forms switched off. */
export function describeForm(
  deps: Pick<Deps, 'config' | 'challenge'>,
  form: VisitedForm,
  { hostname }: CanonicalUrl,
): z.output<typeof descriptionSchema> {
  requireOpenForm(deps, { ...form, status: 'enabled' });
  const address = formAddress(deps.config, form.id);
  const { shown, answers } = deps.challenge ?? { shown: { kind: 'hosted' as const }, answers: ['altcha'] as const };
  return {
    id: form.id,
    name: form.name,
    site: hostname,
    status: form.status,
    fields: askedFields(form.fields),
    button: form.button ?? null,
    send: {
      method: 'POST',
      url: address,
      content_types: ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'],
      how: howToSend,
    },
    challenge: { kind: shown.kind, url: `${address}/challenge`, answer: answers[0], how: howToSolve[shown.kind] },
    html: embedOf(deps.config, form),
  };
}

/** For our pages. Throws `forms_disabled` if there is no challenge to show. */
export function shownForm(
  deps: Pick<Deps, 'config' | 'challenge'>,
  form: VisitedForm,
  { hostname, address }: CanonicalUrl,
): ShownForm {
  const { challenge } = deps;
  if (!challenge) {
    requireOpenForm(deps, form);
    throw new Error('forms are enabled but no challenge is configured');
  }
  return {
    name: form.name,
    siteTitle: form.site.title,
    hostname,
    siteUrl: address,
    action: `/f/${form.id}`,
    fields: askedFields(form.fields).map(withLength),
    button: form.button,
    fallback: form.fallback,
    colors: form.site.colors,
    challenge: challenge.shown,
    files: widgetFiles,
  };
}
