import type { Api } from '#api/api.ts';
import { byId, listOf, page, pageQuery } from '#api/pagination.ts';
import type { Deps } from '#runtime/deps.ts';
import { feedbackOf, fileFeedback, loadFeedback } from './rules.ts';
import { feedbackInput, feedbackSchema, feedbackView } from './schemas.ts';

/** Feedback about the platform. */
export function feedbackRoutes(app: Api, deps: Deps): void {
  app.post(
    '/v1/feedback',
    {
      config: {
        operation: 'feedback.create',
        needs: 'any',
        makes: 'note',
        invalid: { kind: 'invalid_kind', message: 'invalid_message' },
        replay: async ({ em, actor }, id) => feedbackView(await loadFeedback(em, actor, id)),
      },
      schema: {
        summary: 'Send feedback to the operator',
        description: 'Report a defect, a missing capability, or an error message that blames the wrong party.',
        body: feedbackInput,
        response: { 200: feedbackSchema },
      },
    },
    async (request) => {
      const { em, actor, body } = request;
      return feedbackView(await fileFeedback(em, deps, actor, { id: request.newId('note'), ...body }));
    },
  );

  app.get(
    '/v1/feedback',
    {
      config: { operation: 'feedback.list', needs: 'any' },
      schema: {
        summary: 'List your feedback',
        description: 'Lists the feedback of this account, newest first, with what became of it.',
        querystring: pageQuery,
        response: { 200: listOf(feedbackSchema) },
      },
    },
    async ({ em, actor, query }) => {
      const list = ['feedback', actor.accountId];
      const { rows, next_cursor } = await page(deps.config.secret, list, query, feedbackOf(em, actor), byId);
      return { items: rows.map(feedbackView), next_cursor };
    },
  );
}
