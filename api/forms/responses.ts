/** Responses to visitors: pages for browsers, JSON for clients that ask for it. An error page keeps the visitor's answers. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendPage } from '#api/plugins/browser.ts';
import { asAppError, sendError } from '#api/plugins/errors.ts';
import { alreadySent } from '#api/visitors/challenges.ts';
import type { CanonicalUrl } from '#db/domains/canonical-url.ts';
import { askedFields } from '#db/forms/form.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, errors } from '#runtime/errors.ts';
import { formPage, refusedPage, thankYouPage } from '#web/pages/visitors/form-page.ts';
import { prefersJson } from './bodies.ts';
import { shownForm } from './description.ts';
import type { VisitedForm } from './submission.ts';
import { type RawValues, validateValues } from './values.ts';
import { splitAnswers } from './visit.ts';

/** Redirects to the form's return page, or shows our own thank-you page. */
export function respondReceived(
  reply: FastifyReply,
  { form, place: { hostname, address: siteUrl } }: VisitedPlace,
  returnTo: string | undefined,
): FastifyReply {
  if (returnTo !== undefined) return reply.header('cache-control', 'no-store').redirect(returnTo, 303);
  return sendPage(reply, thankYouPage({ hostname, siteUrl, thanks: form.thanks, colors: form.site.colors }));
}

/** `place`: where visitors find the site. */
export type VisitedPlace = { form: VisitedForm; place: CanonicalUrl };
type Known = { visited: VisitedPlace | undefined; given: RawValues };

export function respondInvalid(
  deps: Pick<Deps, 'config' | 'challenge'>,
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
  { visited, given }: Known,
): FastifyReply {
  const form = visited?.form;
  if (prefersJson(request)) return sendError(error, request, reply);
  const known = asKnown(error, request);
  if (known.retryAfterSeconds !== undefined) reply.header('retry-after', Math.ceil(known.retryAfterSeconds));
  const correctable = known.code === 'invalid_fields' || known.code === 'not_a_person';
  if (visited && deps.challenge && correctable)
    return sendPage(reply, formAgain(deps, request, visited, given, known), known.status);
  const title = titles[known.code] ?? 'Your message was not sent';
  const action = `/f/${form?.id ?? ''}`;
  const leadsTo = visited ? [new URL(visited.place.address).origin] : [];
  // An invalid return path is the site author's mistake, so sending again leaves it out.
  const kept =
    known.code === 'invalid_return_path' ? new Map([...given].filter(([name]) => name !== '_return')) : given;
  const again = form && (known.retryable || known.code === 'invalid_return_path') ? { action, leadsTo } : undefined;
  const words = { title, text: texts[known.code] ?? known.message };
  return sendPage(reply, refusedPage(words, kept, { again, colors: form?.site.colors }), known.status);
}

function formAgain(
  deps: Pick<Deps, 'config' | 'challenge'>,
  request: FastifyRequest,
  { form, place }: VisitedPlace,
  given: RawValues,
  { code, message }: AppError,
) {
  const { answers, solution } = splitAnswers(given, request, deps.challenge);
  const carried = [...given].filter(([name]) => name === '_return' || name === '_page');
  const typed = new Map([...answers, ...carried]);
  const shown = shownForm(deps, form, place);
  if (code === 'not_a_person') {
    const asked = solution === undefined ? '' : ` ${message}`;
    const notice = message.includes(alreadySent)
      ? 'Your message has already been sent. Send it again only if it should arrive twice.'
      : `One more step before your message is sent.${asked}`;
    return formPage(shown, { typed, notice });
  }
  const fields = askedFields(form.fields);
  const faults = validateValues(fields, answers).faults;
  const own = new Map(
    faults.filter(({ name }) => fields.some((field) => field.name === name)).map((one) => [one.name, one.message]),
  );
  const others = faults.filter(({ name }) => !own.has(name)).map((one) => one.message);
  const notice = own.size > 0 ? ['Please correct the marked fields.', ...others].join(' ') : message;
  return formPage(shown, { typed, faults: own, notice, solution });
}

function asKnown(error: unknown, request: FastifyRequest): AppError {
  const known = asAppError(error, request);
  if (known.code !== 'internal') return known;
  request.log.error({ err: error }, 'unexpected failure');
  return errors.internal('Something went wrong on our side. Please send your message again in a moment.');
}

/** Instead of the message if the title already says the same. */
const texts: Partial<Record<AppError['code'], string>> = {
  not_found: 'Go back to the website, reload the page and try again, or contact its owner another way.',
};

const titles: Partial<Record<AppError['code'], string>> = {
  not_found: 'We can’t find this form',
  site_archived: 'This website is archived',
  forms_disabled: 'This form is closed',
  rate_limited: 'Too many messages',
  invalid_origin: 'This form was sent from another website',
};
