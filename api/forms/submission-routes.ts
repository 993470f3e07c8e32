/** The submissions of forms, for accounts. */
import type { Api } from '#api/api.ts';
import { listOf } from '#api/pagination.ts';
import { idParams } from '#api/schemas.ts';
import type { Site } from '#db/sites/site.ts';
import type { Deps } from '#runtime/deps.ts';
import { csvDisposition } from './csv.ts';
import { loadForm } from './rules.ts';
import { deleteQuery, submissionChange, submissionSchema, submissionsQuery, submissionView } from './schemas.ts';
import { deleteSubmission, loadSubmission, markSubmission, submissionsFile, submissionsPage } from './submissions.ts';

/** What visitors sent: in lists, as a file, and one at a time. */
export function submissionRoutes(app: Api, deps: Deps): void {
  app.get(
    '/v1/forms/:id/submissions',
    {
      // A HEAD of the file would read all submissions.
      exposeHeadRoute: false,
      config: {
        operation: 'form.submissions',
        needs: 'read',
        capability: 'forms',
        answers: ['application/json', 'text/csv'],
      },
      schema: {
        summary: 'List a form’s submissions',
        description:
          'Submissions are listed newest first, and each is stored for 180 days. CSV returns one file for a spreadsheet, whose times are in the time zone of the site’s calendars or UTC; cells that could be formulas begin with an apostrophe. No call answers an enquiry: the owner replies by e-mail.',
        params: idParams,
        querystring: submissionsQuery,
        response: { 200: listOf(submissionSchema) },
      },
    },
    async ({ em, actor, params, query }, reply) => {
      const form = await loadForm(em, actor, params.id);
      if (query.format === 'csv') {
        reply.headers({
          'content-type': 'text/csv; charset=utf-8; header=present',
          'content-disposition': csvDisposition((form.site as Site).title, form.name),
        });
        // A stream bypasses the schema of the pages.
        return reply.send(submissionsFile(deps, form, { since: query.since, spam: query.spam === 'true' }) as never);
      }
      const { rows, next_cursor } = await submissionsPage(em, deps, form, { ...query, spam: query.spam === 'true' });
      return { items: rows.map(submissionView), next_cursor };
    },
  );

  app.get(
    '/v1/submissions/:id',
    {
      config: { operation: 'submission.read', needs: 'read', capability: 'forms' },
      schema: { summary: 'Read a submission', params: idParams, response: { 200: submissionSchema } },
    },
    async ({ em, actor, params }) => submissionView(await loadSubmission(em, deps, actor, params.id)),
  );

  app.patch(
    '/v1/submissions/:id',
    {
      config: { operation: 'submission.update', needs: 'write', capability: 'forms' },
      schema: {
        summary: 'Mark a submission as spam, or as not spam',
        params: idParams,
        body: submissionChange,
        response: { 200: submissionSchema },
      },
    },
    async ({ em, actor, params, body }) => submissionView(await markSubmission(em, deps, actor, params.id, body)),
  );

  app.delete(
    '/v1/submissions/:id',
    {
      config: { operation: 'submission.delete', needs: 'write', capability: 'forms' },
      schema: {
        summary: 'Delete a submission',
        params: idParams,
        querystring: deleteQuery,
        response: { 200: submissionSchema },
      },
    },
    async ({ em, actor, params, query }) =>
      submissionView(await deleteSubmission(em, deps, actor, params.id, { confirmed: query.confirm === 'true' })),
  );
}
