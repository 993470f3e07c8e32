import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { loadDeployment } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { limitConcurrency } from '#api/concurrency.ts';
import { deploymentSchema, deploymentView } from '#api/deployments/schemas.ts';
import { warningsPart } from '#api/deployments/warnings/rules.ts';
import { capFiles, fileOf, readFiles } from '#api/plugins/file-body.ts';
import { idParams } from '#api/schemas.ts';
import type { Deps } from '#runtime/deps.ts';
import { archiveTypes, receiveArchive } from './archive.ts';
import { receiveFile } from './files.ts';
import { nameFiles, stillMissing } from './manifest.ts';
import { completeUpload, startUpload } from './rules.ts';
import { archiveAnswer, fileParams, manifestAnswer, manifestInput, receivedFile } from './schemas.ts';

/** Uploads of built output: start, send the manifest and files, make live. */
export function outputRoutes(app: Api, deps: Deps): void {
  const { clock } = deps;
  const replay = async ({ em, actor }: Pick<FastifyRequest, 'em' | 'actor'>, id: string) =>
    deploymentView(await loadDeployment(em, actor, id), actor, clock.now());

  app.post(
    '/v1/sites/:id/deployments',
    {
      config: { operation: 'deployment.create', needs: 'write', capability: 'files', makes: 'dep', replay },
      schema: {
        summary: 'Start an upload of built output',
        description:
          'The upload accepts files for 24 hours. If a site has more open uploads than `limits.uploads_under_way`, the oldest is closed.',
        params: idParams,
        response: { 200: deploymentSchema },
      },
    },
    async (request) => {
      const { em, actor, params } = request;
      const upload = { id: request.newId('dep'), siteId: params.id };
      return deploymentView(await startUpload(em, deps, actor, upload), actor, clock.now());
    },
  );

  app.post(
    '/v1/deployments/:id/manifest',
    {
      config: {
        operation: 'deployment.manifest',
        needs: 'write',
        capability: 'files',
        invalid: { files: 'invalid_manifest' },
        replay: async ({ em, actor, body }: FastifyRequest, id) => ({
          missing: await stillMissing(em, actor, id, (body as z.output<typeof manifestInput>).files),
        }),
      },
      schema: {
        summary: 'Send the manifest of an upload',
        description:
          'Send the manifest in parts of up to 5,000 files each. Files that the account has already stored do not need to be sent again.',
        params: idParams,
        body: manifestInput,
        response: { 200: manifestAnswer },
      },
    },
    async (request) => {
      const { em, actor, params, body } = request;
      request.answeredId = params.id;
      return { missing: await nameFiles(em, deps, actor, params.id, body.files) };
    },
  );

  app.post(
    '/v1/deployments/:id/complete',
    {
      config: { operation: 'deployment.complete', needs: 'write', capability: 'files', replay },
      schema: {
        summary: 'Make an upload live',
        description: 'Call this operation once all files have been sent.',
        params: idParams,
        response: { 200: deploymentSchema },
      },
    },
    async ({ em, actor, params }) => {
      const deployment = await completeUpload(em, deps, actor, params.id);
      return {
        ...deploymentView(deployment, actor, clock.now()),
        ...(await warningsPart(deps.em(), deps, deployment, 'passing')),
      };
    },
  );

  app.register(async function bytes(scope: Api) {
    readFiles(scope);
    capFiles(scope, deps);
    const limited = limitConcurrency('outputFiles');
    scope.put(
      '/v1/deployments/:id/files/:sha256',
      {
        config: {
          operation: 'deployment.send_file',
          needs: 'write',
          capability: 'files',
          counted: 'files',
          rawBody: true,
        },
        schema: {
          summary: 'Send the contents of a file',
          description:
            'The body is the file itself, with any content-type. This call has its own rate limit: 12,000 calls a minute for each token. An account can send 16 files at a time.',
          params: fileParams,
          response: { 200: receivedFile },
        },
      },
      async (request, reply) => {
        const { em, actor, params } = request;
        const content = fileOf(request);
        return await limited(actor.accountId, reply, () => receiveFile(em, deps, actor, { ...params, content }));
      },
    );
  });

  app.register(async function archives(scope: Api) {
    readFiles(scope);
    const limited = limitConcurrency('archives');
    scope.post(
      '/v1/deployments/:id/archive',
      {
        config: {
          operation: 'deployment.send_archive',
          needs: 'write',
          capability: 'files',
          rawBody: true,
          takes: archiveTypes,
        },
        schema: {
          summary: 'Send all files of an upload as one archive',
          description:
            'The body is a tar (`application/x-tar`), a tar in gzip (`application/gzip`) or a zip (`application/zip`) of regular files; its root is the root of the site. It takes the place of manifest and files, once for each upload: if one file is refused, none is in the manifest. If the answer is lost, send the same archive again. The contents may be at most 100 times larger than the archive. An account can send 2 archives at a time.',
          params: idParams,
          response: { 200: archiveAnswer },
        },
      },
      async (request, reply) => {
        const { em, actor, params, headers } = request;
        const archive = { id: params.id, type: headers['content-type'], body: fileOf(request) };
        const { deployment, leftOut } = await limited(actor.accountId, reply, () =>
          receiveArchive(em, deps, actor, archive),
        );
        return { deployment: deploymentView(deployment, actor, clock.now()), left_out: leftOut };
      },
    );
  });
}
