import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { findDeployment, loadDeployment, loadSite } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { disconnectSignal, limitConcurrency } from '#api/concurrency.ts';
import { filesAtOnceMax, missingOf } from '#api/output/manifest.ts';
import { byId, listOf, newestFirst, page, pageQuery } from '#api/pagination.ts';
import { isStillGood } from '#api/plugins/bearer.ts';
import { idParams } from '#api/schemas.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import { canonicalUrl } from '#db/domains/canonical-url.ts';
import type { Deps } from '#runtime/deps.ts';
import { endEventId, logText, streamLog } from './log.ts';
import { changesOf, failureDetail, manifestOf, restore } from './rules.ts';
import { deploymentDetailSchema, deploymentSchema, deploymentView, manifestFileSchema } from './schemas.ts';
import { warningsPart } from './warnings/rules.ts';

/** Deployments: list, read with their changes, log and files, restore. */
export function deploymentRoutes(app: Api, deps: Deps): void {
  const { secret } = deps.config;
  const { clock } = deps;
  const streams = limitConcurrency('logStreams');

  app.get(
    '/v1/sites/:id/deployments',
    {
      config: { operation: 'deployment.list', needs: 'read' },
      schema: {
        summary: 'List a site’s deployments',
        params: idParams,
        querystring: pageQuery,
        response: { 200: listOf(deploymentSchema) },
      },
    },
    async ({ em, actor, params, query }) => {
      const site = await loadSite(em, actor, params.id);
      const { rows, next_cursor } = await page(
        secret,
        ['deployments', site.id],
        query,
        newestFirst(em, Deployment, { site: site.id }),
        byId,
      );
      return { items: rows.map((deployment) => deploymentView(deployment, actor, clock.now())), next_cursor };
    },
  );

  app.get(
    '/v1/deployments/:id',
    {
      config: { operation: 'deployment.read', needs: 'read' },
      schema: {
        summary: 'Read a deployment',
        description: 'Includes the changed files and the commits since the previous version.',
        params: idParams,
        response: { 200: deploymentDetailSchema },
      },
    },
    async ({ em, actor, params }) => {
      const deployment = await loadDeployment(em, actor, params.id);
      const detail = await failureDetail(em, deployment);
      const changes = await changesOf(em, deps, deployment);
      const missing =
        deployment.status === 'uploading' ? { missing: await missingOf(em, deployment.id, filesAtOnceMax) } : {};
      const warnings = await warningsPart(em, deps, deployment, 'asked');
      const { address } = await canonicalUrl(em, deps.config, deployment.site);
      return {
        ...deploymentView(deployment, actor, clock.now(), detail),
        address,
        ...warnings,
        ...changes,
        ...missing,
      };
    },
  );

  app.get(
    '/v1/deployments/:id/files',
    {
      config: { operation: 'deployment.files', needs: 'read' },
      schema: {
        summary: 'List a deployment’s files',
        params: idParams,
        querystring: pageQuery,
        response: { 200: listOf(manifestFileSchema) },
      },
    },
    async ({ em, actor, params, query }) => {
      const deployment = await loadDeployment(em, actor, params.id);
      const files = (await manifestOf(deps, deployment)) ?? [];
      const read = (after: string | undefined, limit: number) => {
        const start = after === undefined ? 0 : files.findIndex((file) => file.path > after);
        return start < 0 ? [] : files.slice(start, start + limit);
      };
      const { rows, next_cursor } = await page(secret, ['files', deployment.id], query, read, (file) => file.path);
      return { items: rows.map(({ path, sha256, bytes }) => ({ path, sha256, bytes })), next_cursor };
    },
  );

  app.get(
    '/v1/deployments/:id/log',
    {
      // A HEAD of an endless stream would never end.
      exposeHeadRoute: false,
      config: { operation: 'deployment.log', needs: 'read', answers: ['text/plain', 'text/event-stream'] },
      schema: {
        summary: 'Read the build log',
        description:
          'Returns `text/plain`. With `Accept: text/event-stream`, it streams the log until the deployment finishes, and resumes after `Last-Event-ID`. An account can follow 16 logs at a time.',
        params: idParams,
        response: {
          200: z.any().describe('The log.'),
          204: z.undefined().describe('The client has already received the whole log.'),
        },
      },
    },
    async ({ em, actor, params, headers }, reply) => {
      const { id } = await loadDeployment(em, actor, params.id);
      reply.header('cache-control', 'no-store');
      if (/\btext\/event-stream\b/i.test(headers.accept ?? '')) {
        const lastEventId = headers['last-event-id']?.toString();
        if (lastEventId === endEventId) return reply.code(204).send();
        const load = async () => {
          const fresh = deps.em();
          return (await isStillGood(fresh, deps, actor)) ? await findDeployment(fresh, actor, id) : null;
        };
        const disconnected = disconnectSignal(reply);
        return await streams(actor.accountId, reply, async () =>
          reply
            .type('text/event-stream')
            .serializer((body: unknown) => body as string)
            .send(streamLog(deps, id, load, { lastEventId, disconnected })),
        );
      }
      return reply
        .type('text/plain; charset=utf-8')
        .serializer((body: unknown) => body as string)
        .send(await logText(em, id));
    },
  );

  app.post(
    '/v1/deployments/:id/restore',
    {
      config: {
        operation: 'deployment.restore',
        needs: 'write',
        recordsOnce: true,
        replay: async ({ em, actor }: Pick<FastifyRequest, 'em' | 'actor'>, id) =>
          deploymentView(await loadDeployment(em, actor, id), actor, clock.now()),
      },
      schema: {
        summary: 'Restore a version',
        description: 'Makes an earlier version live again, without rebuilding it or changing git.',
        params: idParams,
        response: { 200: deploymentSchema },
      },
    },
    async ({ em, actor, params }) => deploymentView(await restore(em, deps, actor, params.id), actor, clock.now()),
  );
}
