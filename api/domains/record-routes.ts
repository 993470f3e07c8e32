import { z } from 'zod';
import type { Api } from '#api/api.ts';
import { listOf, page, pageQuery } from '#api/pagination.ts';
import { idParams } from '#api/schemas.ts';
import type { Deps } from '#runtime/deps.ts';
import { addRecord, loadManaged, loadRecord, recordsOf, recordView, removeRecord } from './records.ts';
import { recordInput, recordSchema } from './schemas.ts';

/** DNS records of a domain whose zone the platform hosts. */
export function recordRoutes(app: Api, deps: Deps): void {
  app.get(
    '/v1/domains/:id/records',
    {
      config: { operation: 'record.list', needs: 'read' },
      schema: {
        summary: 'List a domain’s DNS records',
        description: 'Lists the platform’s own records first, then added records, newest first.',
        params: idParams,
        querystring: pageQuery,
        response: { 200: listOf(recordSchema) },
      },
    },
    async ({ em, actor, params, query }) => {
      const domain = await loadManaged(em, deps, actor, params.id);
      const all = await recordsOf(em, deps, domain);
      const { rows, next_cursor } = await page(
        deps.config.secret,
        ['records', domain.id],
        query,
        (after, limit) => {
          const seen = after === undefined ? -1 : all.findIndex(({ record_id }) => record_id === after);
          // The record of the cursor may be deleted by now; the order still places newer ones first.
          const next =
            seen >= 0 || after === undefined ? seen + 1 : all.findIndex((one) => !one.managed && one.record_id < after);
          return next < 0 ? [] : all.slice(next, next + limit);
        },
        ({ record_id }) => record_id,
      );
      return { items: rows, next_cursor };
    },
  );

  app.post(
    '/v1/domains/:id/records',
    {
      config: {
        operation: 'record.add',
        needs: 'all_sites',
        makes: 'rec',
        recordsOnce: true,
        invalid: {
          type: 'invalid_record',
          name: 'invalid_record',
          content: 'invalid_record',
          ttl: 'invalid_record',
          priority: 'invalid_record',
        },
        replay: async ({ em, actor, params }, id) => {
          const domain = await loadManaged(em, deps, actor, (params as { id: string }).id);
          return recordView(await loadRecord(em, domain, id));
        },
      },
      schema: {
        summary: 'Add a DNS record',
        description:
          'Only for domains in `nameservers` mode. You can add records before the domain is verified; they are served once its name servers have been changed.',
        params: idParams,
        body: recordInput,
        response: { 200: recordSchema },
      },
    },
    async (request) => {
      const { em, actor, params, body } = request;
      const call = { domainId: params.id, recordId: request.newId('rec'), input: body };
      return recordView(await addRecord(em, deps, actor, call));
    },
  );

  app.delete(
    '/v1/domains/:id/records/:record_id',
    {
      config: { operation: 'record.remove', needs: 'all_sites' },
      schema: {
        summary: 'Remove a DNS record',
        params: z.object({ id: z.string(), record_id: z.string() }),
        response: { 200: recordSchema },
      },
    },
    async ({ em, actor, params }) =>
      recordView(await removeRecord(em, deps, actor, { domainId: params.id, recordId: params.record_id })),
  );
}
