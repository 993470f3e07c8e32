import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Api } from '#api/api.ts';
import { idParams } from '#api/schemas.ts';
import { call } from '#rules/calls/calls.ts';
import type { Screenshot } from '#rules/looks.ts';
import type { Deps } from '#runtime/deps.ts';
import { AppError } from '#runtime/errors.ts';
import { askFor, askForScreenshot, askForSketch, loadCheck, readPicture, waitForRendering } from './rules.ts';
import { checkQuery, checkSchema, checksInput, checkView, screenshotQuery, sketchScreenshotQuery } from './schemas.ts';
import { pictureParams, pictureResponse, sendPicture } from './sent-picture.ts';

const capability = 'screenshots';

/** Eyes: pictures of pages of a version, and what is wrong with them. */
export function renderingRoutes(app: Api, deps: Deps): void {
  app.get(
    '/v1/deployments/:id/screenshot',
    {
      config: {
        operation: 'deployment.screenshot',
        needs: 'read',
        capability,
        invalid: { path: 'invalid_input', format: 'invalid_input' },
        answers: ['image/webp', 'image/png', 'application/json'],
      },
      schema: {
        summary: 'See a page of a version',
        description:
          'Returns a picture of the page as a browser shows it, without a network: what lies on another host is not there. Waits for as long as `Prefer` allows; if the picture is not finished by then, the response is JSON with the current `status` and a `next_action`.',
        params: idParams,
        querystring: screenshotQuery,
        response: { 200: z.any().describe('A WebP or PNG image, or the status.') },
      },
    },
    async (request, reply) => {
      const { em, actor, params, query } = request;
      const id = await askForScreenshot(em, deps, actor, params.id, query);
      const again = call('deployment.screenshot', { id: params.id, path: query.path });
      return await sendScreenshot(request, reply, { id, again, format: query.format });
    },
  );

  app.get(
    '/v1/sketches/:id/screenshot',
    {
      config: {
        operation: 'sketch.screenshot',
        needs: 'read',
        capability: ['sketches', 'screenshots'],
        invalid: { format: 'invalid_input' },
        answers: ['image/webp', 'image/png', 'application/json'],
      },
      schema: {
        summary: 'See a direction of a sketch',
        description: 'Returns a picture of the direction, as for a page of a version.',
        params: idParams,
        querystring: sketchScreenshotQuery,
        response: { 200: z.any().describe('A WebP or PNG image, or the status.') },
      },
    },
    async (request, reply) => {
      const { em, actor, params, query } = request;
      const id = await askForSketch(em, deps, actor, params.id, query);
      const again = call('sketch.screenshot', { id: params.id, direction: query.direction });
      return await sendScreenshot(request, reply, { id, again, format: query.screenshot.format });
    },
  );

  /** The picture, or the status if it is not finished in time. */
  async function sendScreenshot(
    { waitMs }: Pick<FastifyRequest, 'waitMs'>,
    reply: FastifyReply,
    { id, again, format }: { id: string; again: string; format: Screenshot['format'] },
  ) {
    const { status, error } = await waitForRendering(deps, id, waitMs);
    if (error) throw AppError.of(error);
    if (status !== 'done')
      return { status, next_action: `Call ${again} again in about 2 seconds, with the same form.` };
    return sendPicture(reply, format, await readPicture(deps.em(), deps, { rendering: id, position: 0 }));
  }

  app.post(
    '/v1/deployments/:id/checks',
    {
      config: {
        operation: 'deployment.check',
        needs: 'read',
        capability,
        makes: 'check',
        replay: async ({ em, actor }: Pick<FastifyRequest, 'em' | 'actor'>, id) =>
          checkView(deps.config, await loadCheck(em, actor, id)),
      },
      schema: {
        summary: 'Check pages of a version',
        description:
          'Opens pages in a browser at 390 and 1280 pixels, and reports what is wrong: overflow, small text, contrast, missing names, broken pictures, links and scripts, layout shift, weight. Waits for as long as `Prefer` allows. The pages that a publish changed are checked without a call.',
        params: idParams,
        body: checksInput,
        response: { 200: checkSchema },
      },
    },
    async (request) => {
      const { em, actor, params, body } = request;
      const work = { paths: body.paths ?? null };
      const id = await askFor(em, deps, actor, { id: request.newId('check'), of: params.id, work });
      return checkView(deps.config, await waitForRendering(deps, id, request.waitMs));
    },
  );

  app.get(
    '/v1/checks/:id',
    {
      config: { operation: 'check.read', needs: 'read', capability },
      schema: {
        summary: 'Read what a check found',
        params: idParams,
        querystring: checkQuery,
        response: { 200: checkSchema },
      },
    },
    async (request) => {
      const { em, actor, params, query } = request;
      const { id } = await loadCheck(em, actor, params.id);
      return checkView(deps.config, await waitForRendering(deps, id, request.waitMs), query.limit);
    },
  );

  app.get(
    '/v1/checks/:id/crops/:number',
    {
      config: { operation: 'check.crop', needs: 'read', capability, answers: ['image/webp'] },
      schema: {
        summary: 'See the place of a finding',
        params: pictureParams,
        response: pictureResponse,
      },
    },
    async ({ em, actor, params }, reply) => {
      const { id } = await loadCheck(em, actor, params.id);
      return sendPicture(reply, 'webp', await readPicture(em, deps, { rendering: id, position: params.number }));
    },
  );
}
