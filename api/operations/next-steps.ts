/** Renders the calls that responses name (`rules/calls/`) for the surface of the caller. */
import type { FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { renderCalls, type Surface } from '#rules/calls/calls.ts';
import { kindOf, kindOfField, wrongKind } from '#rules/calls/kinds.ts';

/** The user agent of requests that `/mcp` makes in the process. */
export const mcpAgent = 'frontage-mcp';

export function surfaceOf({ headers, routeOptions }: FastifyRequest): Surface {
  const agent = headers['user-agent'] ?? '';
  if (agent === mcpAgent || routeOptions.config?.counted === 'mcp') return 'mcp';
  return agent.startsWith('frontage-client/') ? 'client' : 'http';
}

/** Renders every `next_action` of a response. Add it before the routes. */
export function renderNextSteps(app: Api): void {
  app.addHook('preSerialization', async (request, _reply, payload) =>
    rendered(payload, (text, key) => (key === 'next_action' ? renderFor(request, text) : text)),
  );
}

/** The text with its calls in the caller's words; ids that the request named fill what the text leaves open. */
export function renderFor(request: FastifyRequest, text: string): string {
  return text.includes('⟦') ? renderCalls(text, surfaceOf(request), namedIds(request)) : text;
}

/** By the prefix of their kind, or by the name of the parameter. */
function namedIds(request: FastifyRequest): Record<string, string> {
  const path = pathOf(request);
  const named: Record<string, string> = {};
  for (const [name, value] of Object.entries((request.params ?? {}) as Record<string, string>)) {
    const { prefix } = kindOf(path, name) ?? {};
    if (prefix === undefined || value.startsWith(`${prefix}_`)) named[prefix ?? name] = value;
  }
  return named;
}

/** The route's path as the API description has it: `/v1/sites/{id}`. */
const pathOf = ({ routeOptions }: FastifyRequest): string => (routeOptions.url ?? '').replaceAll(/:(\w+)/g, '{$1}');

/** What is wrong with an id of another kind in the path or the body, from its prefix alone. */
export function wrongKindIn(request: FastifyRequest): string | undefined {
  const path = pathOf(request);
  const body = typeof request.body === 'object' && request.body !== null ? request.body : {};
  const wanted = [
    ...Object.entries((request.params ?? {}) as object).map(([name, id]) => ({ id, kind: kindOf(path, name) })),
    ...Object.entries(body).map(([name, id]) => ({ id, kind: kindOfField(name) })),
  ];
  for (const { id, kind } of wanted) {
    const said = kind && typeof id === 'string' ? wrongKind(id, kind) : undefined;
    if (said !== undefined) return said;
  }
  return undefined;
}

/** The value with each of its texts rendered; the same object if nothing changed. */
export function rendered(value: unknown, render: (text: string, key: string) => string, key = ''): unknown {
  if (typeof value === 'string') return render(value, key);
  if (Array.isArray(value)) {
    const items = value.map((item) => rendered(item, render, key));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const fields = Object.entries(value).map(([name, part]) => [name, part, rendered(part, render, name)] as const);
  if (fields.every(([, before, after]) => before === after)) return value;
  return Object.fromEntries(fields.map(([name, , after]) => [name, after]));
}
