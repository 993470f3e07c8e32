/**
 * `/mcp`: the Model Context Protocol over streamable HTTP, for clients with a token. The server is stateless, so there
 * is no session to resume (GET) or to end (DELETE).
 */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { challenge } from '#api/oauth/metadata.ts';
import { apiClientFor } from '#api/operations/inject.ts';
import type { Operations } from '#api/operations/operations.ts';
import { beginError } from '#api/plugins/errors.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import type { SkillTree } from '#skill/tree.ts';
import type { Served } from './server.ts';

const options = { config: { operation: 'mcp.call', counted: 'mcp' as const }, schema: { hide: true } };

const connectAgain = 'Connect again: your program refreshes its access, or the owner approves it once more.';
const connectFirst = ({ baseUrl }: Deps['config']) =>
  `Your program sent no token. ${baseUrl}/llms.txt says how to connect it and how to ask the owner for access.`;

/** Returns errors in the protocol's format, and refuses pages of other sites. Runs before authentication. */
export function mcpErrorHandler(scope: Api, { config }: Deps): void {
  scope.setErrorHandler((error, request, reply) => {
    const body = beginError(error, request, reply);
    const code = body.code === 'invalid_json' ? -32700 : -32000;
    const sentOne = request.headers.authorization !== undefined;
    if (body.code === 'unauthorized') body.next_action = sentOne ? connectAgain : connectFirst(config);
    if (body.code === 'unauthorized') reply.header('www-authenticate', challenge(config, { sentOne }));
    return reply.send(fault(code, body.message, body));
  });
  // Protects against DNS rebinding.
  scope.addHook('onRequest', async ({ headers: { origin } }, reply) => {
    if (origin === undefined || origin === config.baseUrl) return;
    return reply.code(403).send(fault(-32000, 'Requests from pages on other sites are not allowed.'));
  });
}

/** The protocol's package: loaded when the process is ready or at the first call, because it delays a start. */
export const loadServer = () => import('./server.ts');

export function mcpRoutes(scope: Api, deps: Deps, skill: SkillTree, operations: Operations): void {
  // The description is complete only when all routes are registered.
  let served: Served | undefined;

  scope.post('/mcp', options, async (request, reply) => {
    // Batches were removed in version 2025-06-18. One could contain a hundred calls, and all responses would be held in
    // memory.
    if (Array.isArray(request.body))
      return reply.code(400).send(fault(-32600, 'Send each message in a separate request.'));
    const { newTransport, servedBy, serverFor } = await loadServer();
    const transport = newTransport({ enableJsonResponse: !wantsProgress(request.body) });
    served ??= servedBy(deps, skill, operations.all());
    const server = serverFor(served, {
      send: apiClientFor(scope, request),
      actor: request.actor,
      requestId: request.id,
    });
    reply.raw.once('close', () => void server.close());
    await server.connect(transport as Parameters<typeof server.connect>[0]);
    return await answerWith(reply, await transport.handleRequest(webRequest(request), { parsedBody: request.body }));
  });

  scope.route({
    method: ['GET', 'DELETE'],
    url: '/mcp',
    ...options,
    handler: async (_request, reply) => {
      reply.header('allow', 'POST');
      throw errors.method_not_allowed('This endpoint accepts only POST, because the server has no sessions.');
    },
  });
}

function webRequest({ headers, method }: FastifyRequest): Request {
  const kept = Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []));
  // The transport only reads the headers.
  return new Request('http://mcp/', { method, headers: Object.fromEntries(kept) });
}

async function answerWith(reply: FastifyReply, answer: Response): Promise<FastifyReply> {
  reply.code(answer.status).headers(Object.fromEntries(answer.headers)).header('cache-control', 'no-store');
  if (!answer.body) return reply.send();
  if (answer.headers.get('content-type')?.startsWith('application/json'))
    return reply.send(Buffer.from(await answer.arrayBuffer()));
  return reply.send(Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]));
}

/** Whether the message requests progress notifications, which require a streamed response. */
function wantsProgress(message: unknown): boolean {
  const { params } = (message ?? {}) as { params?: { _meta?: { progressToken?: unknown } } };
  return params?._meta?.progressToken !== undefined;
}

function fault(code: number, message: string, data?: unknown): object {
  return { jsonrpc: '2.0', error: { code, message, ...(data === undefined ? {} : { data }) }, id: null };
}
