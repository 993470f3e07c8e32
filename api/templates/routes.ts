import { z } from 'zod';
import type { Api } from '#api/api.ts';
import { listOf, page, pageQuery } from '#api/pagination.ts';
import type { Deps } from '#runtime/deps.ts';
import { listTemplates } from '#templates/templates.ts';

const templateSchema = z
  .object({ name: z.string(), title: z.string(), description: z.string(), preview_url: z.string().nullable() })
  .meta({ id: 'Template' });

/** The templates that a site can be created from. */
export function templateRoutes(app: Api, { config }: Deps): void {
  app.get(
    '/v1/templates',
    {
      config: { operation: 'template.list', needs: 'any' },
      schema: { summary: 'List the templates', querystring: pageQuery, response: { 200: listOf(templateSchema) } },
    },
    async ({ query }) => {
      const all = await listTemplates();
      const { rows, next_cursor } = await page(
        config.secret,
        ['templates'],
        query,
        (after, limit) => {
          const from = after === undefined ? 0 : all.findIndex(({ name }) => name === after) + 1;
          return all.slice(from, from + limit);
        },
        ({ name }) => name,
      );
      return { items: rows.map((template) => ({ ...template, preview_url: null })), next_cursor };
    },
  );
}
