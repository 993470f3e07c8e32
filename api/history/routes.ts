import type { z } from 'zod';
import { type Actor, loadSite } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { listOf, page } from '#api/pagination.ts';
import { idParams } from '#api/schemas.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Deps } from '#runtime/deps.ts';
import { type Condition, historyOfAccount, historyOfSite, positionOf, readHistory } from './rules.ts';
import { historyEntrySchema, historyEntryView, historyQuery } from './schemas.ts';

/** What was done to a site and to an account, by whom, and with which token. */
export function historyRoutes(app: Api, { config }: Pick<Deps, 'config'>): void {
  app.get(
    '/v1/sites/:id/history',
    {
      config: { operation: 'site.history', needs: 'read' },
      schema: {
        summary: 'Read a site’s history',
        description:
          'Lists what was done to the site in the last year, the newest first. Collaborators do not see entries about money, payouts, tokens and git passwords. Visitors’ acts and words are not part of it.',
        params: idParams,
        querystring: historyQuery,
        response: { 200: listOf(historyEntrySchema) },
      },
    },
    async ({ em, actor, params, query }) => {
      const site = await loadSite(em, actor, params.id);
      return await answer(em, actor, query, {
        list: ['site-history', site.id],
        conditions: historyOfSite(site, actor),
      });
    },
  );

  app.get(
    '/v1/account/history',
    {
      config: { operation: 'account.history', needs: 'read' },
      schema: {
        summary: 'Read the account’s history',
        description:
          'Lists what was done to the account and its sites in the last year, and what the account did on sites of others, the newest first.',
        querystring: historyQuery,
        response: { 200: listOf(historyEntrySchema) },
      },
    },
    async ({ em, actor, query }) =>
      await answer(em, actor, query, {
        list: ['account-history', actor.accountId],
        conditions: historyOfAccount(actor),
      }),
  );

  /** A page of this list, which its cursors are bound to. */
  async function answer(
    em: EntityManager,
    actor: Actor,
    query: z.output<typeof historyQuery>,
    { list, conditions }: { list: string[]; conditions: Condition[] },
  ) {
    const { since } = query;
    const { rows, next_cursor } = await page(
      config.secret,
      [...list, since?.toISOString() ?? ''],
      query,
      (after, limit) => readHistory(em, conditions, { since, after, limit }),
      positionOf,
    );
    return { items: rows.map((row) => historyEntryView(row, actor)), next_cursor };
  }
}
