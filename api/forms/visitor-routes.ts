/** `/f/{form_id}`: for visitors' browsers and programs. No token: a form's id is public. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Api } from '#api/api.ts';
import { sendPage } from '#api/plugins/browser.ts';
import { forEver, sendFile } from '#api/plugins/page-files.ts';
import { type ClientLimiter, clientLimiter } from '#api/plugins/rate-limit.ts';
import { routeDefaults } from '#api/plugins/route-defaults.ts';
import { limitBodyTime } from '#api/plugins/sockets.ts';
import { allowOrigins, originsOf, requireOwnOrigin } from '#api/visitors/origins.ts';
import { canonicalUrl } from '#db/domains/canonical-url.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { embedPage, formPage } from '#web/pages/visitors/form-page.ts';
import { parseSubmission, prefersJson } from './bodies.ts';
import { describeForm, descriptionSchema, shownForm } from './description.ts';
import { embedOf } from './embed.ts';
import { hashed, widget } from './files.ts';
import { respondInvalid, respondReceived, type VisitedPlace } from './responses.ts';
import { receiveSubmission, requireOpenForm, visitForm } from './submission.ts';
import type { RawValues } from './values.ts';
import { readReturnPath, splitAnswers } from './visit.ts';

const formParams = z.object({ form_id: z.string() });
const takenSchema = z
  .object({
    id: z.string(),
    status: z.literal('received'),
    thanks: z.string().nullable().describe('The owner’s text for the visitor, if there is one.'),
    return_path: z.string().nullable().describe('The path of the site to show next, if the owner chose one.'),
  })
  .meta({ id: 'ReceivedSubmission' });

export async function visitorFormRoutes(app: Api, deps: Deps): Promise<void> {
  limitBodyTime(app);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setErrorHandler((error, request, reply) =>
    respondInvalid(deps, request, reply, error, { visited: undefined, given: new Map() }),
  );
  const reads = clientLimiter(app, deps, 'formReads');
  fileRoutes(app);
  pageRoutes(app, deps, reads);
  await app.register(async function described(scope: Api) {
    routeDefaults(scope);
    describeRoutes(scope, deps, reads);
    sendRoute(scope, deps);
  });
}

function fileRoutes(app: Api): void {
  const config = { operation: 'form.file' } as const;
  for (const [path, file] of Object.entries(widget)) {
    app.get(path, { config, schema: { hide: true } }, async (request, reply) =>
      sendFile(request, reply, file, 'public, max-age=300'),
    );
  }
  const params = z.object({ file: z.string() });
  app.get('/f/files/:file', { config, schema: { hide: true, params } }, async (request, reply) => {
    const file = hashed.get(request.params.file);
    if (!file) throw errors.not_found('This file does not exist.');
    return sendFile(request, reply, file, forEver);
  });
}

function pageRoutes(app: Api, deps: Deps, limit: ClientLimiter): void {
  app.get(
    '/f/:form_id/embed.html',
    { config: { operation: 'form.embed' }, schema: { hide: true, params: formParams } },
    async (request, reply) => {
      const { form, place } = await visit(deps, request, reply, limit);
      return sendPage(reply, embedPage(shownForm(deps, form, place), embedOf(deps.config, form)));
    },
  );
  for (const url of ['/f/:form_id', '/f/:form_id/challenge']) {
    app.options(
      url,
      { config: { operation: 'form.preflight' }, schema: { hide: true, params: formParams } },
      async (request, reply) => {
        await visit(deps, request, reply, limit);
        return reply.code(204).send();
      },
    );
  }
}

function describeRoutes(app: Api, deps: Deps, limit: ClientLimiter): void {
  const challenges = clientLimiter(app, deps, 'challenges');
  app.get(
    '/f/:form_id',
    {
      config: { operation: 'form.describe' },
      schema: {
        summary: 'Read a form’s fields',
        description:
          'For a visitor’s own agent: returns the fields, the challenge and how to submit the form. Browsers receive the form as a page.',
        security: [],
        params: formParams,
        response: { 200: descriptionSchema },
      },
    },
    async (request, reply) => {
      const { form, place } = await visit(deps, request, reply, limit);
      if (prefersJson(request)) return describeForm(deps, form, place);
      requireOpenForm(deps, form);
      return sendPage(reply, formPage(shownForm(deps, form, place))) as never;
    },
  );

  app.get(
    '/f/:form_id/challenge',
    {
      config: { operation: 'form.challenge' },
      schema: {
        summary: 'Get a challenge',
        description: 'The form’s script solves it and sends the solution with what the visitor wrote.',
        security: [],
        params: formParams,
        response: { 200: z.record(z.string(), z.unknown()) },
      },
    },
    async (request, reply) => {
      const { form } = await visit(deps, request, reply, challenges);
      requireOpenForm(deps, form);
      reply.header('cache-control', 'no-store');
      return (await deps.challenge?.issue(form.id)) ?? {};
    },
  );
}

function sendRoute(app: Api, deps: Deps): void {
  const limit = clientLimiter(app, deps, 'forms');
  app.post(
    '/f/:form_id',
    {
      config: { operation: 'form.send', answers: ['application/json', 'text/html'] },
      schema: {
        summary: 'Submit a form',
        description:
          'Accepts application/x-www-form-urlencoded, multipart/form-data without files, and JSON. Send the field names with their answers, the solved challenge in `altcha` and, optionally, `_return`: a path on the site to redirect to. No token is required. Browsers receive a page; clients that send or accept JSON receive JSON.',
        security: [],
        params: formParams,
        consumes: ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'],
        // Read in the handler, which chooses the response if it cannot be read.
        body: z.unknown(),
        response: { 200: takenSchema },
      },
    },
    async (request, reply) => {
      let given: RawValues = new Map();
      let visited: Visited | undefined;
      try {
        given = await parseSubmission(request);
        visited = await visit(deps, request, reply, undefined, limit);
        // Only after the form is known: a visitor at the rate limit keeps what they typed, to send it again.
        await limit(request, reply);
        return await send(deps, request, reply, visited, given);
      } catch (error) {
        return respondInvalid(deps, request, reply, error, { visited, given });
      }
    },
  );
}

async function send(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { form, own, place }: Visited,
  given: RawValues,
) {
  // Our own pages of the form send to it too.
  requireOwnOrigin(request, new Set([...own, deps.config.baseUrl]));
  const { answers, solution, page, returnPath } = splitAnswers(given, request, deps.challenge);
  const returnTo = readReturnPath(place, own, request, returnPath ?? form.returnPath ?? undefined);
  const submission = await receiveSubmission(deps.em(), deps, form, { given: answers, solution, page });
  if (prefersJson(request)) {
    const { thanks = null, returnPath: return_path = null } = form;
    return { id: submission.id, status: 'received' as const, thanks, return_path };
  }
  return respondReceived(reply, { form, place }, returnTo);
}

type Visited = VisitedPlace & { own: ReadonlySet<string> };

/**
 * The form, and its site's origins and address, within the rate limit, with CORS headers for the site's own scripts.
 * `ofUnknown` limits requests for forms that do not exist.
 */
async function visit(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  limit: ClientLimiter | undefined,
  ofUnknown = limit,
): Promise<Visited> {
  const em = deps.em();
  const { form_id: formId } = request.params as z.output<typeof formParams>;
  const form = await visitForm(em, formId).catch(async (error: unknown) => {
    await ofUnknown?.(request, reply);
    throw error;
  });
  const own = await originsOf(em, deps, form.site);
  allowOrigins(request, reply, own);
  await limit?.(request, reply);
  return { form, own, place: await canonicalUrl(em, deps.config, form.site) };
}
