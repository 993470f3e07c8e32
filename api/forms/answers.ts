/** What a visitor is answered: a page of ours, for browsers; who asks for data gets data. Whatever went wrong, what was typed is kept. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendPage } from '#api/plugins/browser.ts';
import { asAppError, sendError } from '#api/plugins/errors.ts';
import { type Config, siteAddress, siteHostname } from '#runtime/config.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, errors } from '#runtime/errors.ts';
import { formPage, refusedPage, takenPage } from '#web/pages/form-page.ts';
import { wantsData } from './bodies.ts';
import { shownForm } from './description.ts';
import type { VisitedForm } from './receiving.ts';
import { type Given, judgeValues } from './values.ts';
import { splitAnswers } from './visit.ts';

/** To the page that the form names, or to one of ours. */
export function answerTaken(
  { config }: Pick<Deps, 'config'>,
  reply: FastifyReply,
  form: VisitedForm,
  returnTo: string | undefined,
): FastifyReply {
  if (returnTo !== undefined) return reply.header('cache-control', 'no-store').redirect(returnTo, 303);
  return sendPage(reply, takenPage(placeOf(config, form)));
}

type Known = { form: VisitedForm | undefined; given: Given };

export function answerMistake(
  deps: Pick<Deps, 'config' | 'challenge'>,
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
  { form, given }: Known,
): FastifyReply {
  if (wantsData(request)) return sendError(error, request, reply);
  const known = asKnown(error, request);
  if (known.retryAfterSeconds !== undefined) reply.header('retry-after', Math.ceil(known.retryAfterSeconds));
  const mendable = known.code === 'invalid_fields' || known.code === 'not_a_person';
  if (form && deps.challenge && mendable)
    return sendPage(reply, formAgain(deps, request, form, given, known), known.status);
  const title = titles[known.code] ?? 'This was not sent';
  const action = `/f/${form?.id ?? ''}`;
  const leadsTo = form ? [new URL(placeOf(deps.config, form).siteUrl).origin] : [];
  // What the maker of the page has got wrong is not for its visitor to mend: sent again, it goes without.
  const kept =
    known.code === 'invalid_return_path' ? new Map([...given].filter(([name]) => name !== '_return')) : given;
  const again = form && (known.retryable || known.code === 'invalid_return_path') ? { action, leadsTo } : undefined;
  return sendPage(reply, refusedPage({ title, text: known.message }, kept, again), known.status);
}

function formAgain(
  deps: Pick<Deps, 'config' | 'challenge'>,
  request: FastifyRequest,
  form: VisitedForm,
  given: Given,
  { code, message }: AppError,
) {
  const { answers, solution } = splitAnswers(given, request, deps.challenge);
  const carried = [...given].filter(([name]) => name === '_return' || name === '_page');
  const typed = new Map([...answers, ...carried]);
  if (code === 'not_a_person') {
    const asked = solution === undefined ? '' : ` ${message}`;
    return formPage(shownForm(deps, form), { typed, notice: `One more step before this is sent.${asked}` });
  }
  const faults = judgeValues(form.fields, answers).faults;
  const own = new Map(
    faults.filter(({ name }) => form.fields.some((field) => field.name === name)).map((one) => [one.name, one.message]),
  );
  const others = faults.filter(({ name }) => !own.has(name)).map((one) => one.message);
  const notice = own.size > 0 ? ['Please look at what is marked.', ...others].join(' ') : message;
  return formPage(shownForm(deps, form), { typed, faults: own, notice, solution });
}

const placeOf = (config: Config, { site }: VisitedForm) => ({
  hostname: siteHostname(config, site.name),
  siteUrl: siteAddress(config, site.name),
});

function asKnown(error: unknown, request: FastifyRequest): AppError {
  const known = asAppError(error, request);
  if (known.code !== 'internal') return known;
  request.log.error({ err: error }, 'unexpected failure');
  return errors.internal('The fault is ours, not yours. Please send it again in a moment.');
}

const titles: Partial<Record<AppError['code'], string>> = {
  not_found: 'No form at this address',
  site_archived: 'This website is closed',
  forms_disabled: 'This form is closed',
  rate_limited: 'A little slower, please',
  invalid_origin: 'This came from elsewhere',
};
