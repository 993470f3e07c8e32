/**
 * A stub of the payment provider, for machines that must charge nobody: the part of its API that we use, payment pages,
 * and signed webhooks. If the vendor's mock is installed, it first validates the shape of each request.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Clock } from '#runtime/clock.ts';
import { accountOfKey, accountRoutes, connectedAccount } from './accounts.ts';
import { billingRoutes } from './billing.ts';
import { readForm } from './form.ts';
import { answerPage } from './pages.ts';
import { answerPortal } from './portal.ts';
import { refundRoutes } from './refunds.ts';
import { sessionRoutes } from './sessions.ts';
import { type Call, calm, type Knobs, type PaymentsStub, Refusal, type Route, type StoredObject } from './state.ts';
import { readObjects, writeObjects } from './state-file.ts';
import { noMock, stripeMock } from './stripe-mock.ts';
import { createWebhooks, type Hooks, shown } from './webhooks.ts';

export type PaymentsStubOptions = {
  clock: Clock;
  /** A free one by default. */
  port?: number;
  /** Its public address; at 127.0.0.1 by default. */
  url?: string;
  /** The platform's own key. */
  key?: string;
  hooks?: Hooks;
  /** Path of the vendor's mock; without it, shapes are not validated. */
  mock?: string | undefined;
  knobs?: Partial<Knobs>;
  /** Where its state is stored; in memory by default. */
  file?: string;
  random?: () => number;
};

const routes: Route[] = [...sessionRoutes, ...refundRoutes, ...accountRoutes, ...billingRoutes];

type Answer = { status: number; body: object };

export async function startPaymentsStub(options: PaymentsStubOptions) {
  const shapes = options.mock === undefined ? noMock : stripeMock(options.mock);
  const answered = new Map<string, { body: string; answer: Promise<Answer> }>();
  const hooks = createWebhooks(() => stub, options.hooks ?? {});
  const stub: PaymentsStub = {
    clock: options.clock,
    random: options.random ?? Math.random,
    knobs: { ...calm, ...options.knobs },
    url: '',
    objects: readObjects(options.file),
    platform: '',
    shapes,
    sendEvent: hooks.sendEvent,
  };
  const server = createServer((request, response) => {
    handle(stub, answered, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((listening, failed) => {
    server.once('error', failed);
    server.listen(options.port ?? 0, '127.0.0.1', listening);
  });
  stub.url = options.url ?? `http://127.0.0.1:${portOf(server)}`;
  if (options.key) stub.platform = accountOfKey(stub, options.key);
  const save = () => options.file && writeObjects(options.file, stub.objects);
  const saving = setInterval(save, 2_000).unref();
  return {
    url: stub.url,
    stub,
    knobs: stub.knobs,
    /** Resolves when every pending webhook has been delivered or abandoned. */
    settled: hooks.settled,
    async close() {
      clearInterval(saving);
      save();
      hooks.close();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

async function handle(
  stub: PaymentsStub,
  answered: Map<string, { body: string; answer: Promise<Answer> }>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await text(request);
  if (answerPage(stub, request, response, body) || answerPortal(stub, request, response)) return;
  if (request.url === '/knobs' && request.method === 'POST') {
    Object.assign(stub.knobs, JSON.parse(body));
    return send(response, { status: 200, body: stub.knobs });
  }
  if (stub.random() < stub.knobs.turnAway) return send(response, faultOf(new Refusal(503, '', 'Try again later.')));
  const key = request.headers['idempotency-key'];
  const answer = typeof key === 'string' ? await once(answered, stub, request, body) : await act(stub, request, body);
  if (stub.random() < stub.knobs.loseAnswers) return void response.destroy();
  send(response, answer);
}

/**
 * Executes a request with an idempotency key once. Reusing the key with another body is an error, as at the provider.
 */
function once(
  answered: Map<string, { body: string; answer: Promise<Answer> }>,
  stub: PaymentsStub,
  request: IncomingMessage,
  body: string,
): Promise<Answer> {
  const { authorization, 'stripe-account': account, 'idempotency-key': key } = request.headers;
  const name = [authorization, account, key].join(' ');
  const before = answered.get(name);
  if (!before) {
    const answer = act(stub, request, body);
    answered.set(name, { body: `${request.url} ${body}`, answer });
    return answer;
  }
  if (before.body === `${request.url} ${body}`) return before.answer;
  return Promise.resolve(
    faultOf(new Refusal(400, 'idempotency_error', 'An idempotency key can be used with only one request body.')),
  );
}

async function act(stub: PaymentsStub, request: IncomingMessage, body: string): Promise<Answer> {
  try {
    const call = readCall(stub, request, body);
    const shape = await stub.shapes.ask({ method: call.method, url: request.url ?? '', body });
    if (shape && shape.status >= 400) return shape;
    const route = routes.find((one) => one.method === call.method && one.path.test(call.path));
    if (!route) throw new Refusal(404, '', `Unrecognized request URL (${call.method}: ${call.path}).`);
    const result = await route.run(stub, { ...call, found: route.path.exec(call.path)?.slice(1) ?? [] });
    if (result.object === 'list') {
      const list = result as { data: StoredObject[] };
      return { status: 200, body: { ...result, data: list.data.map(shown) } };
    }
    return { status: 200, body: { ...shape?.body, ...shown(result as StoredObject) } };
  } catch (error) {
    if (error instanceof Refusal) return faultOf(error);
    throw error;
  }
}

function readCall(stub: PaymentsStub, { method = '', url = '', headers }: IncomingMessage, body: string): Call {
  const { pathname, search } = new URL(url, stub.url);
  const key = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
  const own = accountOfKey(stub, key);
  const named = headers['stripe-account'];
  const account = typeof named === 'string' ? connectedAccount(stub, named).id : own;
  return { method, path: pathname, found: [], input: readForm(body || search.slice(1)), key, account };
}

function faultOf({ status, code, message }: Refusal): Answer {
  const type = status >= 500 ? 'api_error' : 'invalid_request_error';
  return { status, body: { error: { type, message, ...(code ? { code } : {}) } } };
}

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}
