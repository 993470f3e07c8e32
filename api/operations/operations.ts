/** The API's operations for tools, read from the same description as `/openapi.json`. */
import type { FastifyContextConfig, RouteOptions } from 'fastify';
import type { Api } from '#api/api.ts';

export type Schema = Record<string, unknown> & {
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
};

/** Where a tool's input is sent. */
export type Place = 'path' | 'query' | 'body';

export type Operation = {
  /** `site.publish`: noun and verb, as in the terminal client. */
  name: string;
  method: string;
  /** With its parameters in braces. */
  path: string;
  summary: string;
  description: string | undefined;
  inputs: { name: string; place: Place; required: boolean; schema: Schema }[];
  takesJson: boolean;
  /** The body is a file. */
  takesFile: boolean;
  config: FastifyContextConfig;
};

type Described = {
  operationId: string;
  summary: string;
  description?: string;
  security?: unknown[];
  parameters?: { in: string; name: string; required?: boolean; description?: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
};
export type Document = {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema> };
};

export type Operations = {
  /** All that need a token, and the free times of a site. The first call describes the whole API, which takes a second: only once all routes are registered. */
  all(): Operation[];
  /** Whether `all` has this name, as far as routes are registered by now. */
  has(name: string): boolean;
};

/** Collects the config of routes. Add it before the routes. */
export function collectOperations(app: Api): Operations {
  const configs = new Map<string, FastifyContextConfig>();
  const names = new Set<string>();
  app.addHook('onRoute', ({ url, config, schema }: RouteOptions) => {
    if (!config?.operation) return;
    configs.set(config.operation, config);
    if (!schema?.hide && isForTools(url, schema?.security)) names.add(config.operation);
  });
  let operations: Operation[] | undefined;
  return {
    all() {
      operations ??= operationsOf(app.swagger() as unknown as Document, configs);
      return operations;
    },
    has: (name) => names.has(name),
  };
}

/** Free days and times, which visitors read without a token. */
const freeTimes = /^\/b\/[^/]+\/(days|slots)$/;

/**
 * Operations under `/v1` that require a token, and free times. Clients without a token request access with the public
 * operations, not with tools.
 */
const isForTools = (path: string, security: unknown): boolean =>
  freeTimes.test(path) || (path.startsWith('/v1/') && security === undefined);

function operationsOf(document: Document, configs: ReadonlyMap<string, FastifyContextConfig>): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security }]) => isForTools(path, security))
      .map(([method, described]) => {
        const config = configs.get(described.operationId) ?? {};
        return operationOf(document, { path, method: method.toUpperCase(), described, config });
      }),
  );
}

function operationOf(
  document: Document,
  {
    path,
    method,
    described,
    config,
  }: { path: string; method: string; described: Described; config: FastifyContextConfig },
): Operation {
  const resolved = (schema: Schema | undefined) => inlined(document, schema);
  const body = resolved(described.requestBody?.content['application/json']?.schema);
  const asked = (described.parameters ?? [])
    .filter((one) => one.in === 'path' || one.in === 'query')
    .map(({ in: place, name, required = false, description, schema }) => ({
      name,
      place: place as Place,
      required: required && schema.default === undefined,
      schema: { ...resolved(schema), ...(description === undefined ? {} : { description }) },
    }));
  const sent = Object.entries(body?.properties ?? {}).map(([name, schema]) => ({
    name,
    place: 'body' as const,
    required: body?.required?.includes(name) ?? false,
    schema,
  }));
  return {
    name: described.operationId,
    method,
    path,
    summary: described.summary,
    description: described.description,
    inputs: [...asked, ...sent],
    takesJson: body !== undefined,
    takesFile: config.rawBody === true,
    config,
  };
}

/**
 * The schema with its references inlined, because a tool's schema must be self-contained. No schema is recursive.
 */
function inlined(document: Document, schema: Schema | undefined): Schema | undefined {
  return schema && (inline(schema) as Schema);

  function inline(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(inline);
    if (value === null || typeof value !== 'object') return value;
    const { $ref, ...rest } = value as { $ref?: unknown };
    const name = typeof $ref === 'string' ? ($ref.split('/').at(-1) ?? '') : undefined;
    const whole = name === undefined ? rest : { ...document.components.schemas[name], ...rest };
    return Object.fromEntries(Object.entries(whole).map(([key, inner]) => [key, inline(inner)]));
  }
}
