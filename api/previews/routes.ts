import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { loadDeployment, loadSite, roleOf } from '#api/access.ts';
import type { Api, Authenticated } from '#api/api.ts';
import { deploymentSchema, deploymentView } from '#api/deployments/schemas.ts';
import { warningsPart } from '#api/deployments/warnings/rules.ts';
import { listOf, page, pageQuery } from '#api/pagination.ts';
import { failure, waitForDeployment } from '#api/publishing/waiting.ts';
import { idParams } from '#api/schemas.ts';
import type { Deployment } from '#db/deployments/deployment.ts';
import { canonicalUrl } from '#db/domains/canonical-url.ts';
import type { Site } from '#db/sites/site.ts';
import { limitsOf } from '#rules/plan-limits.ts';
import type { Deps } from '#runtime/deps.ts';
import { clearSlot } from './clears.ts';
import { updateSlot } from './merges.ts';
import { buildDraft, publishSlot } from './rules.ts';
import { slotParams, slotSchema, slotView } from './schemas.ts';
import { loadSlot, loadSlots, slotNumber } from './slots.ts';

type SlotRequest = Authenticated & { params: unknown };
type OfSlot = z.output<typeof slotParams>;

/** Previews: drafts of a site in numbered slots, each on a host with an unguessable name. */
export function previewRoutes(app: Api, deps: Deps): void {
  readingRoutes(app, deps);
  buildingRoutes(app, deps);
  publishRoute(app, deps);
  clearRoute(app, deps);
}

/** The slot as it is now. */
async function viewOf(deps: Deps, { em, actor }: Authenticated, { id, slot }: OfSlot) {
  const site = await loadSite(em, actor, id);
  const found = await loadSlot(em.fork(), deps, site, await slotNumber(em, deps, site, roleOf(site, actor), slot));
  return slotView(found, { config: deps.config, site });
}

function readingRoutes(app: Api, deps: Deps): void {
  const { config } = deps;

  app.get(
    '/v1/sites/:id/previews',
    {
      config: { operation: 'preview.list', needs: 'read', capability: 'previews' },
      schema: {
        summary: 'List the preview slots',
        description: 'Lists all preview slots, including empty ones.',
        params: idParams,
        querystring: pageQuery,
        response: { 200: listOf(slotSchema) },
      },
    },
    async ({ em, actor, params, query }) => {
      const site = await loadSite(em, actor, params.id);
      const numbers = Array.from(
        { length: limitsOf(deps.config, site, deps.clock.now()).preview_slots },
        (_, at) => at + 1,
      );
      const { rows, next_cursor } = await page(
        config.secret,
        ['previews', site.id],
        query,
        (after, limit) => numbers.filter((slot) => after === undefined || slot > Number(after)).slice(0, limit),
        String,
      );
      const slots = await loadSlots(em.fork(), deps, site, rows);
      return { items: slots.map((slot) => slotView(slot, { config, site })), next_cursor };
    },
  );

  app.get(
    '/v1/sites/:id/previews/:slot',
    {
      config: { operation: 'preview.read', needs: 'read', capability: 'previews' },
      schema: { summary: 'Read a preview slot', params: slotParams, response: { 200: slotSchema } },
    },
    (request) => viewOf(deps, request, request.params),
  );
}

function buildingRoutes(app: Api, deps: Deps): void {
  const config = {
    capability: ['previews', 'builds'],
    makes: 'dep',
    async replay({ em, actor, params }: SlotRequest, id: string) {
      await loadDeployment(em, actor, id);
      return await viewOf(deps, { em, actor }, params as OfSlot);
    },
  } as const;

  /** Builds a draft with `by`, and responds with the slot when the draft is built or the wait times out. */
  async function build(
    request: SlotRequest & Pick<FastifyRequest, 'newId' | 'waitMs' | 'answeredId'>,
    by: typeof buildDraft,
  ) {
    const { em, actor } = request;
    const params = request.params as OfSlot;
    const call = { id: request.newId('dep'), siteId: params.id, slot: params.slot };
    const { id } = await by(em, deps, actor, call);
    request.answeredId = id;
    const deployment = await waitForDeployment(deps, id, request.waitMs);
    if (deployment.error) throw await failure(deps, deployment);
    return await viewOf(deps, request, params);
  }

  app.post(
    '/v1/sites/:id/previews/:slot',
    {
      config: { operation: 'preview.build', needs: 'write', ...config },
      schema: {
        summary: 'Build a draft',
        description:
          'Builds the branch `preview/<n>` of each repository, or `main` if there is no such branch, and includes draft posts. The draft expires after 14 days. ' +
          'Waits for as long as `Prefer` allows. If the build fails while you wait, the call returns `build_failed` with the build log.',
        params: slotParams,
        response: { 200: slotSchema },
      },
    },
    (request) => build(request, buildDraft),
  );

  app.post(
    '/v1/sites/:id/previews/:slot/update',
    {
      config: { operation: 'preview.update', needs: 'write', ...config },
      schema: {
        summary: 'Update a preview slot',
        description:
          'Merges new commits from `main` into the branch `preview/<n>` in both repositories, or in neither if there is a ' +
          'conflict, and rebuilds the draft.',
        params: slotParams,
        response: { 200: slotSchema },
      },
    },
    (request) => build(request, updateSlot),
  );
}

function publishRoute(app: Api, deps: Deps): void {
  async function published({ em, actor }: Authenticated, deployment: Deployment, site: Pick<Site, 'id' | 'name'>) {
    const { address } = await canonicalUrl(em, deps.config, site);
    return { ...deploymentView(deployment, actor, deps.clock.now()), address };
  }

  app.post(
    '/v1/sites/:id/previews/:slot/publish',
    {
      config: {
        operation: 'preview.publish',
        needs: 'write',
        capability: 'previews',
        makes: 'dep',
        replay: async (asked: Authenticated, id) => {
          const deployment = await loadDeployment(asked.em, asked.actor, id);
          return await published(asked, deployment, deployment.site);
        },
      },
      schema: {
        summary: 'Publish a preview slot',
        description:
          'Merges the slot’s commits into `main` in both repositories, and publishes exactly the files that were built for the preview, ' +
          'without draft posts. Nothing is built again.',
        params: slotParams,
        response: { 200: deploymentSchema },
      },
    },
    async (request) => {
      const { em, actor, params } = request;
      const call = { id: request.newId('dep'), siteId: params.id, slot: params.slot };
      const { id } = await publishSlot(em, deps, actor, call);
      const deployment = await waitForDeployment(deps, id, request.waitMs);
      if (deployment.error) throw await failure(deps, deployment);
      const warnings = await warningsPart(deps.em(), deps, deployment, 'passing');
      const site = await loadSite(em, actor, params.id);
      return { ...(await published(request, deployment, site)), ...warnings };
    },
  );
}

function clearRoute(app: Api, deps: Deps): void {
  app.delete(
    '/v1/sites/:id/previews/:slot',
    {
      config: { operation: 'preview.clear', needs: 'write', capability: 'previews' },
      schema: {
        summary: 'Clear a preview slot',
        description:
          'Removes the slot’s draft, address and branches. If the slot contains unpublished changes, the call fails unless `discard` is true.',
        params: slotParams,
        querystring: z.strictObject({
          discard: z.enum(['true', 'false']).default('false').describe('Whether to discard unpublished changes.'),
        }),
        response: { 200: slotSchema },
      },
    },
    async (request) => {
      const { em, actor, params, query } = request;
      await clearSlot(em, deps, actor, { siteId: params.id, slot: params.slot, discard: query.discard === 'true' });
      return await viewOf(deps, request, params);
    },
  );
}
