import { z } from 'zod';
import type { Api } from '#api/api.ts';
import { packageGroups } from '#providers/sandbox/image/offered-packages.ts';
import { missingFrom } from './rules.ts';

const namesMax = 200;

const packagesSchema = z
  .object({
    groups: z.array(
      z.object({
        name: z.string().describe('What its packages are for, such as `fonts`.'),
        packages: z.array(z.object({ name: z.string(), version: z.string() })),
      }),
    ),
    missing: z
      .array(z.object({ name: z.string(), nearest: z.string().nullable() }))
      .describe('The packages of `name` that are not offered, each with the nearest one that is.'),
  })
  .meta({ id: 'Packages' });

const name = z.string().min(1).max(214);

/** The packages that sites are built with. */
export function packageRoutes(app: Api): void {
  app.get(
    '/v1/packages',
    {
      config: { operation: 'package.list', needs: 'any' },
      schema: {
        summary: 'List the packages that sites can import',
        description:
          'All sites are built with these packages, in these versions, without a network. Repeat `name` to ask which ' +
          'packages of a project are missing. A project that needs others can be built elsewhere and deployed as built output.',
        querystring: z.strictObject({
          name: z
            .union([name, z.array(name).max(namesMax)])
            .optional()
            .describe('A package, or an import such as `astro-icon/components`. Can be repeated.'),
        }),
        response: { 200: packagesSchema },
      },
    },
    async ({ query }) => ({ groups: packageGroups(), missing: missingFrom([query.name ?? []].flat()) }),
  );
}
