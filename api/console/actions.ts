/**
 * Forms of the console. Each calls an operation of the API in this process as the person of the session, so that
 * validation, permissions, idempotency, limits and history are the API's. A refusal is shown on the form's page.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Input } from '#api/operations/inject.ts';
import { apiClientFor } from '#api/operations/inject.ts';
import { callOperation } from '#api/operations/invoke.ts';
import type { Operation } from '#api/operations/operations.ts';
import { pageOptions, readForm, sendPage } from '#api/plugins/browser.ts';
import { AppError } from '#runtime/errors.ts';
import type { Refused } from '#web/console/frame.ts';
import type { WrittenPage } from '#web/page.ts';
import { noticePage } from '#web/pages/notice.ts';
import { type Console, consolePage, type Named } from './frame.ts';
import { redirectWithNotice } from './notices.ts';

export type SentForm = ReturnType<typeof readForm>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation of the API that a form of the console calls. */
    calls?: string;
  }
}

type After = { to: string; notice: string };

export type Action = {
  path: string;
  operation: string;
  /** The operation's inputs, of its path, query and body. What it throws of the catalog is shown as a refusal. */
  input: (request: FastifyRequest<Named>, form: SentForm) => Input | Promise<Input>;
  /** Where it leads, and what it says there; or a page that shows what is shown once. */
  done: (
    answer: Input,
    request: FastifyRequest<Named>,
    form: SentForm,
    reply: FastifyReply,
  ) => After | { page: WrittenPage } | Promise<After | { page: WrittenPage }>;
  /** What it answers if the thing is no longer there; by default the page that says so. */
  gone?: After;
  /** The page of the form again, with the refusal. */
  show: (request: FastifyRequest<Named>, reply: FastifyReply, refused: Refused) => Promise<unknown>;
};

/** Adds the route of a form. The server does not start if the API has no such operation. */
export function action(console: Console, { path, operation, input, done, gone, show }: Action): void {
  const { app, deps } = console;
  app.addHook('onReady', async () => {
    if (!console.operations.has(operation)) throw noOperation(operation);
  });
  const options = pageOptions(`${operation}_on_page`, 'email_signin');
  app.post<Named>(path, { ...options, config: { ...options.config, calls: operation } }, async (request, reply) => {
    const form = readForm(request);
    const answer = await callWith(console, request, operation, async () => await input(request, form));
    if ('refusal' in answer && answer.refusal.status === 401) return reply.redirect('/signin', 303);
    if (gone && 'refusal' in answer && answer.refusal.code === 'not_found') {
      return redirectWithNotice(reply, gone.to, gone.notice, deps.clock.now());
    }
    if ('refusal' in answer) return show(request, reply, refusedOf(request, answer.refusal, answer.fields));
    const after = await done(answer.body, request, form, reply);
    if ('page' in after) return sendPage(reply, after.page);
    return redirectWithNotice(reply, after.to, after.notice, deps.clock.now());
  });
}

/** A page that asks first, and the form on it that acts. `ask` is that page, also with a refusal. */
export function askedAction(
  console: Console,
  { page, ask, ...rest }: Omit<Action, 'show'> & { page: string; ask: Ask },
): void {
  const show: Action['show'] = async (request, reply, refused) =>
    sendPage(reply, await ask(request, reply, refused), refused.status);
  console.app.get<Named>(rest.path, consolePage(page), async (request, reply) =>
    sendPage(reply, await ask(request, reply, null)),
  );
  action(console, { ...rest, show });
}

type Ask = (request: FastifyRequest<Named>, reply: FastifyReply, refused: Refused | null) => Promise<WrittenPage>;

/** The refusal on a page of its own, for forms that several pages have. */
export const showRefusal: Action['show'] = async (_request, reply, { text, status }) =>
  sendPage(
    reply,
    noticePage({ title: 'That did not work', text, link: { href: '/account', text: 'Your account' } }),
    status,
  );

type Answered = { body: Input } | { refusal: AppError; fields: string[] };

async function callWith(
  console: Console,
  request: FastifyRequest,
  operation: string,
  input: () => Promise<Input>,
): Promise<Answered> {
  try {
    return await call(console, request, operation, await input());
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { refusal: error, fields: [] };
  }
}

/** Calls an operation as the person of the session. `Prefer: respond-async`: no page waits for a workflow. */
export async function call(console: Console, request: FastifyRequest, name: string, input: Input): Promise<Answered> {
  const operation = operationOf(console, name);
  const send = apiClientFor(console.app, request);
  const key = operation.method === 'POST' ? readKey(request) : undefined;
  const answer = await callOperation((method, path, sent) => send(method, path, { ...sent, key }), operation, input, 0);
  if (answer.refusal) return { refusal: answer.refusal, fields: operation.inputs.map((one) => one.name) };
  return { body: answer.body ?? {} };
}

function operationOf({ operations }: Console, name: string): Operation {
  const found = operations.all().find((one) => one.name === name);
  if (!found) throw noOperation(name);
  return found;
}

const noOperation = (name: string) => new TypeError(`The API has no operation ${name}`);

/** A form that is sent twice acts once. */
function readKey(request: FastifyRequest): string | undefined {
  const key = readForm(request).field('key') ?? '';
  return /^[\w-]{8,64}$/.test(key) ? key : undefined;
}

/** Rethrows what the form's page cannot show. */
function refusedOf(request: FastifyRequest, refusal: AppError, fields: readonly string[]): Refused {
  if (refusal.status === 404 || refusal.status >= 500) throw refusal;
  const { field, code, message } = refusal;
  const named = /^invalid_(\w+)$|^(\w+)_taken$/.exec(code);
  const name = fields.find((one) => one === (named?.[1] ?? named?.[2]));
  return {
    status: refusal.status,
    code,
    action: request.url,
    text: field ? sentence(field.name, field.words) : message,
    field: field ?? (name === undefined ? null : { name, words: null }),
    values: valuesOf(request),
  };
}

function sentence(name: string, words: string): string {
  const label = name.replaceAll(/[._]/g, ' ');
  return `${label.charAt(0).toUpperCase()}${label.slice(1)} ${words}.`;
}

function valuesOf(request: FastifyRequest): Record<string, string[]> {
  const { all } = readForm(request);
  const names = Object.keys((request.body ?? {}) as object).filter((name) => name !== 'form' && name !== 'key');
  return Object.fromEntries(names.map((name) => [name, all(name)]));
}
