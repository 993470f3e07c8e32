/**
 * Forms of the console. Each calls an operation of the API in this process as the person of the session, so that
 * validation, permissions, idempotency, limits and history are the API's. A refusal is shown on the form's page.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Input } from '#api/operations/inject.ts';
import { apiClientFor } from '#api/operations/inject.ts';
import { callOperation } from '#api/operations/invoke.ts';
import type { Operation } from '#api/operations/operations.ts';
import { pageOptions, readForm } from '#api/plugins/browser.ts';
import type { AppError } from '#runtime/errors.ts';
import type { Refused } from '#web/console/frame.ts';
import type { Console, Named } from './frame.ts';
import { redirectWithNotice } from './notices.ts';

export type SentForm = ReturnType<typeof readForm>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation of the API that a form of the console calls. */
    calls?: string;
  }
}

export type Action = {
  path: string;
  operation: string;
  /** The operation's inputs, of its path, query and body. */
  input: (request: FastifyRequest<Named>, form: SentForm) => Input;
  /** The page after it, and what it says there. */
  done: (
    answer: Input,
    request: FastifyRequest<Named>,
    form: SentForm,
  ) => { to: string; notice: string } | Promise<{ to: string; notice: string }>;
  /** The page of the form again, with the refusal. */
  show: (request: FastifyRequest<Named>, reply: FastifyReply, refused: Refused) => Promise<unknown>;
};

/** Adds the route of a form. The server does not start if the API has no such operation. */
export function action(console: Console, { path, operation, input, done, show }: Action): void {
  const { app, deps } = console;
  app.addHook('onReady', async () => void operationOf(console, operation));
  const options = pageOptions(`${operation}_on_page`, 'email_signin');
  app.post<Named>(path, { ...options, config: { ...options.config, calls: operation } }, async (request, reply) => {
    const form = readForm(request);
    const answer = await call(console, request, operation, input(request, form));
    if ('refusal' in answer && answer.refusal.status === 401) return reply.redirect('/signin', 303);
    if ('refusal' in answer) return show(request, reply, refusedOf(request, answer.refusal, answer.fields));
    const { to, notice } = await done(answer.body, request, form);
    return redirectWithNotice(reply, to, notice, deps.clock.now());
  });
}

/** Calls an operation as the person of the session. `Prefer: respond-async`: no page waits for a workflow. */
async function call(
  console: Console,
  request: FastifyRequest,
  name: string,
  input: Input,
): Promise<{ body: Input } | { refusal: AppError; fields: string[] }> {
  const operation = operationOf(console, name);
  const send = apiClientFor(console.app, request);
  const key = operation.method === 'POST' ? readKey(request) : undefined;
  const answer = await callOperation((method, path, sent) => send(method, path, { ...sent, key }), operation, input, 0);
  if (answer.refusal) return { refusal: answer.refusal, fields: operation.inputs.map((one) => one.name) };
  return { body: answer.body ?? {} };
}

function operationOf({ operations }: Console, name: string): Operation {
  const found = operations().find((one) => one.name === name);
  if (!found) throw new TypeError(`The API has no operation ${name}`);
  return found;
}

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
