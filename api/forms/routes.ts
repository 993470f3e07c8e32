import type { FastifyRequest } from 'fastify';
import { loadSite } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { notifyAddress, notifyOptions } from '#api/notify-to.ts';
import { byId, listOf, newestFirst, page, pageQuery } from '#api/pagination.ts';
import { idParams } from '#api/schemas.ts';
import { Form } from '#db/forms/form.ts';
import { summarizeSubmissions } from '#db/forms/submissions.ts';
import { replyAddress } from '#db/sites/notify-address.ts';
import { call } from '#rules/calls/calls.ts';
import type { Deps } from '#runtime/deps.ts';
import { changeForm, contextOf, createForm, deleteForm, loadForm, setStatus } from './rules.ts';
import { deleteQuery, formChange, formInput, formSchema, formView } from './schemas.ts';

const invalid = {
  fields: 'invalid_fields',
  notify_to: 'invalid_notify_to',
  reply_to: 'invalid_notify_to',
  return_path: 'invalid_return_path',
} as const;

/** Forms of a site's pages. */
export function formRoutes(app: Api, deps: Deps): void {
  siteFormRoutes(app, deps);
  formChangeRoutes(app, deps);
}

const view = async (request: Pick<FastifyRequest, 'em'>, deps: Deps, form: Form) =>
  formView(form, await contextOf(request.em, deps, form));

function siteFormRoutes(app: Api, deps: Deps): void {
  app.post(
    '/v1/sites/:id/forms',
    {
      config: {
        operation: 'form.create',
        needs: 'write',
        capability: 'forms',
        makes: 'form',
        recordsOnce: true,
        invalid,
        replay: async (request: FastifyRequest, id) =>
          await view(request, deps, await loadForm(request.em, request.actor, id)),
      },
      schema: {
        summary: 'Create a form',
        description:
          'Use `action_url` as the form’s action in the site’s HTML; the URL never changes. `embed` is ready-made HTML that includes the spam challenge. ' +
          'To send an enquiry without a browser, open `action_url` with a program: it gets JSON that says how.',
        params: idParams,
        body: formInput,
        response: { 200: formSchema },
      },
    },
    async (request) => {
      const { em, actor, params, body } = request;
      return await view(
        request,
        deps,
        await createForm(em, deps, actor, params.id, { ...body, id: request.newId('form') }),
      );
    },
  );

  app.get(
    '/v1/sites/:id/forms',
    {
      config: { operation: 'form.list', needs: 'read', capability: 'forms' },
      schema: {
        summary: 'List a site’s forms',
        description: `If no enquiries arrive: \`status\` must be enabled, \`submissions\` counts those that came, with spam, and \`notify_to\` is e-mailed about each. A page that sends to no open form has the warning dead_form in ${call('deployment.read')}.`,
        params: idParams,
        querystring: pageQuery,
        response: { 200: listOf(formSchema) },
      },
    },
    async ({ em, actor, params, query }) => {
      const site = await loadSite(em, actor, params.id);
      const read = newestFirst(em, Form, { site: site.id });
      const { rows, next_cursor } = await page(deps.config.secret, ['forms', site.id], query, read, byId);
      const summaries = await summarizeSubmissions(em, rows.map(byId), deps.clock.now());
      const options = await notifyOptions(em, site);
      const items = rows.map(async (form) =>
        formView(form, {
          config: deps.config,
          summary: summaries.get(form.id),
          notifyTo: await notifyAddress(em, site, form.notifyCollaboratorId),
          notifyOptions: options,
          replyTo: await replyAddress(em, site, form.replyToId),
        }),
      );
      return { items: await Promise.all(items), next_cursor };
    },
  );
}

function formChangeRoutes(app: Api, deps: Deps): void {
  app.get(
    '/v1/forms/:id',
    {
      config: { operation: 'form.read', needs: 'read', capability: 'forms' },
      schema: { summary: 'Read a form', params: idParams, response: { 200: formSchema } },
    },
    async (request) => await view(request, deps, await loadForm(request.em, request.actor, request.params.id)),
  );

  app.patch(
    '/v1/forms/:id',
    {
      config: { operation: 'form.update', needs: 'write', capability: 'forms', invalid },
      schema: {
        summary: 'Change a form',
        description:
          'To change the fields, send the complete list. A field with stored answers cannot be removed or renamed, and its kind cannot change; hide it with `retired`.',
        params: idParams,
        body: formChange,
        response: { 200: formSchema },
      },
    },
    async (request) =>
      await view(request, deps, await changeForm(request.em, deps, request.actor, request.params.id, request.body)),
  );

  app.delete(
    '/v1/forms/:id',
    {
      config: { operation: 'form.delete', needs: 'write', capability: 'forms' },
      schema: {
        summary: 'Delete a form and its submissions',
        params: idParams,
        querystring: deleteQuery,
        response: { 200: formSchema },
      },
    },
    async ({ em, actor, params, query }) => {
      const confirmed = query.confirm === 'true';
      const { form, context } = await deleteForm(em, deps, actor, params.id, { confirmed });
      return formView(form, context);
    },
  );

  const replay = async (request: FastifyRequest, id: string) =>
    await view(request, deps, await loadForm(request.em, request.actor, id));
  const config = { capability: 'forms', needs: 'write', replay, recordsOnce: true } as const;
  app.post(
    '/v1/forms/:id/disable',
    {
      config: { ...config, operation: 'form.disable' },
      schema: {
        summary: 'Stop accepting submissions',
        description: 'The form and its submissions are kept.',
        params: idParams,
        response: { 200: formSchema },
      },
    },
    async (request) =>
      await view(request, deps, await setStatus(request.em, deps, request.actor, request.params.id, 'disabled')),
  );
  app.post(
    '/v1/forms/:id/enable',
    {
      config: { ...config, operation: 'form.enable' },
      schema: { summary: 'Accept submissions again', params: idParams, response: { 200: formSchema } },
    },
    async (request) =>
      await view(request, deps, await setStatus(request.em, deps, request.actor, request.params.id, 'enabled')),
  );
}
