import type { FastifyRequest } from 'fastify';
import { loadSite } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { byId, listOf, newestFirst, page, pageQuery } from '#api/pagination.ts';
import { idParams } from '#api/schemas.ts';
import { UploadLink } from '#db/assets/upload-link.ts';
import type { Deps } from '#runtime/deps.ts';
import { createLink, loadLink, revokeLink } from './links.ts';
import { newUploadSchema, newUploadView, uploadInput, uploadSchema, uploadView } from './schemas.ts';

const secretPrefix = 'fru';

/** Upload links, with which an owner sends files from a browser: create, list, revoke. */
export function uploadRoutes(app: Api, deps: Deps): void {
  const { config, clock } = deps;
  app.post(
    '/v1/sites/:id/uploads',
    {
      config: {
        operation: 'upload.create',
        needs: 'write',
        capability: 'files',
        makes: 'upl',
        showsSecret: true,
        invalid: {
          expires_in_seconds: 'invalid_upload',
          max_files: 'invalid_upload',
          max_file_bytes: 'invalid_upload',
        },
        replay: async (request: FastifyRequest, id: string) => {
          const link = await loadLink(request.em, request.actor, id);
          return newUploadView(link, request.newSecret(secretPrefix), config, clock.now());
        },
      },
      schema: {
        summary: 'Create an upload link',
        description:
          'Creates a page where anyone who has its address can upload photos for this site. Photos are stored without location and camera data. The address is shown only once.',
        params: idParams,
        body: uploadInput,
        response: { 200: newUploadSchema },
      },
    },
    async (request) => {
      const secret = request.newSecret(secretPrefix);
      const link = await createLink(request.em, deps, request.actor, request.params.id, {
        id: request.newId('upl'),
        secret,
        ...request.body,
      });
      return newUploadView(link, secret, config, clock.now());
    },
  );

  app.get(
    '/v1/sites/:id/uploads',
    {
      config: { operation: 'upload.list', needs: 'read' },
      schema: {
        summary: 'List the upload links',
        params: idParams,
        querystring: pageQuery,
        response: { 200: listOf(uploadSchema) },
      },
    },
    async ({ em, actor, params, query }) => {
      const site = await loadSite(em, actor, params.id);
      const { rows, next_cursor } = await page(
        config.secret,
        ['uploads', site.id],
        query,
        newestFirst(em, UploadLink, { site: site.id }),
        byId,
      );
      return { items: rows.map((link) => uploadView(link, clock.now())), next_cursor };
    },
  );

  app.delete(
    '/v1/uploads/:id',
    {
      config: { operation: 'upload.end', needs: 'write' },
      schema: { summary: 'Revoke an upload link', params: idParams, response: { 200: uploadSchema } },
    },
    async ({ em, actor, params }) => uploadView(await revokeLink(em, deps, actor, params.id), clock.now()),
  );
}
