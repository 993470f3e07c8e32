import type { Api } from '#api/api.ts';
import { disconnectSignal } from '#api/concurrency.ts';
import { listOf, page } from '#api/pagination.ts';
import { recheckAuthorization } from '#api/plugins/bearer.ts';
import type { Deps } from '#runtime/deps.ts';
import type { InboxItem } from './item.ts';
import { finishItems, positionOf, readInbox } from './rules.ts';
import { doneInput, doneSchema, inboxItemSchema, inboxItemView, inboxQuery } from './schemas.ts';
import { openWaiting } from './waiters.ts';

/** The inbox of the caller, over all sites, with long polling. */
export function inboxRoutes(app: Api, deps: Deps): void {
  const { config } = deps;
  const waiting = openWaiting(deps);
  app.addHook('preClose', async () => waiting.close());

  app.get(
    '/v1/inbox',
    {
      // Long polling is useless for HEAD.
      exposeHeadRoute: false,
      config: { operation: 'inbox.read', needs: 'any' },
      schema: {
        summary: 'Read the inbox, or wait for a new item',
        description:
          'Lists everything that needs action by this account, on all its sites, newest first. An item disappears when its thing is dealt with, or when it is marked as done. If the inbox is ' +
          'empty and `wait` is set, the call returns as soon as an item arrives, or with an empty list when the time is up. ' +
          'Repeat the call with the same `since` instead of polling each list. A token can have four such calls waiting at a time, an account two hundred.',
        querystring: inboxQuery,
        response: { 200: listOf(inboxItemSchema) },
      },
    },
    async ({ em, actor, query }, reply) => {
      let items: InboxItem[];
      if (query.wait > 0) {
        items = await waiting.wait(actor, query.since, query.wait * 1000, disconnectSignal(reply));
        // The token may have been revoked during the wait.
        await recheckAuthorization(em, deps, actor);
      } else {
        items = (await readInbox(em, deps, actor, { since: query.since })).items;
      }
      const read = (after: string | undefined, limit: number) =>
        items.filter((item) => after === undefined || positionOf(item) < after).slice(0, limit);
      const { rows, next_cursor } = await page(config.secret, ['inbox', actor.accountId], query, read, positionOf);
      return { items: rows.map((item) => inboxItemView(item, config)), next_cursor };
    },
  );

  app.post(
    '/v1/inbox/done',
    {
      config: { operation: 'inbox.done', needs: 'write' },
      schema: {
        summary: 'Mark items of the inbox as done',
        description:
          'They leave the inbox of this account, for all its tokens. An item returns if its thing changes, such as a thread with a new ' +
          'comment. Nothing else changes: this answers no comment and declines no invitation. Items that are not in the inbox are refused together.',
        body: doneInput,
        response: { 200: doneSchema },
      },
    },
    async ({ em, actor, body }) => ({ items: await finishItems(em, deps, actor, body.items) }),
  );
}
