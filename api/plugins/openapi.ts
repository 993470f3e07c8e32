/** The API's description, generated from the schemas that validate requests. */
import swagger from '@fastify/swagger';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { Api } from '#api/api.ts';
import { tagGroups, tagNamesOf } from '#api/docs/tags.ts';
import { type NeedName, needOf } from '#api/scopes/needs.ts';
import type { Config } from '#runtime/config.ts';
import { usualResponse } from '#web/pages/platform/reference.ts';
import { linkCalls } from './links.ts';

const description = `Frontage lets an AI agent and its owner make and run websites.

A successful call returns 200. A failed call returns the body \`Error\`; its codes are at \`GET /errors\` and, with what to do, at /docs/errors. A list returns
\`{ items, next_cursor }\`, newest first. A POST accepts an \`Idempotency-Key\`, which is stored for 24 hours: a repeated call returns the current
state of the resource that the first call created. A call that starts work waits up to 20 s for it to finish; \`Prefer: wait=N\` (0 to 50) or
\`Prefer: respond-async\` changes that. Rate-limited calls return \`ratelimit-*\` headers. Each
operation names the scope that its token needs. A call beyond it returns \`out_of_scope\`, with a link on which the owner can allow it.`;

const license = { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' };

/** Describes all routes that are added after it. */
export async function describeApi(app: Api, config: Config): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Frontage',
        version: '1',
        description,
        license,
        contact: { name: 'Frontage', url: config.baseUrl },
      },
      servers: [{ url: config.baseUrl }],
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
      security: [{ bearer: [] }],
    },
    transform: (document) => {
      const { schema, url } = jsonSchemaTransform(document);
      // Git has its own protocol.
      if (!schema) return { schema: { hide: true }, url };
      const { answers, needs, ownerOnly, rawBody, takes = ['application/octet-stream'] } = document.route.config ?? {};
      const isPost = document.route.method === 'POST' && url.startsWith('/v1/') && !rawBody;
      const shown = { ...schema, ...(isPost && !schema.security ? { headers: idempotencyHeader } : {}) };
      if (isEmptyObject(shown.body)) delete shown.body;
      if (isEmptyObject(shown.querystring)) delete shown.querystring;
      if (rawBody) Object.assign(shown, { consumes: takes, body: { type: 'string', format: 'binary' } });
      if (needs) Object.assign(shown, scopeOf(needs, ownerOnly, shown.description));
      if (answers) shown.response = asTypes(shown.response as Answers, answers);
      return nameWildcard(shown, url);
    },
    transformObject: (document) =>
      withTagGroups(linkCalls(forTools(nameKeys(freeBodies(dropUnused(jsonSchemaTransformObject(document))))))),
  });
}

/** Groups of tags, which viewers of the description show as chapters (an extension that Redoc introduced). */
const withTagGroups = <Document extends object>(document: Document) => ({
  ...document,
  'x-tagGroups': tagGroups.map((group) => ({ name: group.name, tags: tagNamesOf(group) })),
});

const idempotencyHeader = {
  type: 'object',
  properties: {
    'Idempotency-Key': {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      description: 'Makes the call safe to retry for 24 hours.',
    },
  },
};

/** Names the wildcard parameter `path`. */
function nameWildcard<Shown extends { params?: unknown }>(schema: Shown, url: string): { schema: Shown; url: string } {
  const { params } = schema as { params?: { properties?: Record<string, unknown>; required?: string[] } };
  const rest = params?.properties?.['*'];
  if (!params?.properties || rest === undefined) return { schema, url };
  const { '*': _rest, ...properties } = params.properties;
  const required = params.required?.map((name) => (name === '*' ? 'path' : name));
  return {
    schema: { ...schema, params: { ...params, properties: { ...properties, path: rest }, required } },
    url: url.replace(/\*$/, ':path'),
  };
}

/** Which scope a token needs for the operation, and whose token it has to be. */
function scopeOf(needs: NeedName, ownerOnly: string | boolean | undefined, description: string | undefined) {
  const what = ownerOnly === true ? 'make this call' : ownerOnly;
  const words = `Scope: ${needOf(needs).text}.${what ? ` Only the owner of the site can ${what}.` : ''}`;
  return {
    description: description ? `${description}\n\n${words}` : words,
    'x-scope': needs,
    ...(ownerOnly === true ? { 'x-owner-only': true } : {}),
  };
}

type Answers = Record<string, { description?: string }>;

/** Sets the media types of successful responses. Where one is a page, errors are pages too. */
function asTypes(response: Answers, types: readonly string[]): Answers {
  const entries = Object.entries(response).map(([status, schema]) => {
    const own = status === '200' || (status === 'default' && types.includes('text/html'));
    if (!own) return [status, schema];
    const content = types.map((type) => [type, { schema: type === 'application/json' ? schema : {} }]);
    return [status, { description: schema.description ?? 'The response.', content: Object.fromEntries(content) }];
  });
  return Object.fromEntries(entries);
}

type Described = {
  paths?: Record<
    string,
    Record<string, { requestBody?: { required?: boolean; content: Record<string, { schema?: Body }> } }>
  >;
  components?: { schemas?: Record<string, Body> };
};
type Body = { $ref?: string; required?: string[] };

/** A body without required fields is optional. */
function freeBodies<Document extends object>(document: Document): Document {
  const { paths = {}, components } = document as Described;
  for (const { requestBody } of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    const schema = requestBody?.content['application/json']?.schema;
    const named = schema?.$ref ? components?.schemas?.[schema.$ref.split('/').at(-1) ?? ''] : schema;
    if (requestBody && named && !named.required?.length) requestBody.required = false;
  }
  return document;
}

type Answered = {
  tags?: { name: string; description: string }[];
  paths?: Record<string, Record<string, AnsweredOperation>>;
};
type AnsweredOperation = { tags?: string[]; responses?: Record<string, { description?: string }> };

/** What the generator of the document writes where a schema has no description. */
const noDescription = 'Default Response';
const allTags = tagGroups.flatMap(({ tags }) => Object.values(tags)).sort((a, b) => (a.name < b.name ? -1 : 1));

/** What generators and linters look for: declared tags, refusals as such beside the default response, and descriptions. */
function forTools<Document extends object>(document: Document): Document {
  const described = document as Answered;
  const operations = Object.values(described.paths ?? {}).flatMap((methods) => Object.values(methods));
  for (const { responses = {} } of operations) {
    for (const [status, response] of Object.entries(responses))
      if (response.description === noDescription)
        response.description = status === '200' ? usualResponse : 'A refusal: what is wrong, and what to do.';
    if (responses.default) responses['4XX'] = responses.default;
  }
  const used = new Set(operations.flatMap(({ tags = [] }) => tags));
  described.tags = allTags
    .filter(({ name }) => used.has(name))
    .map(({ name, about }) => ({ name, description: about }));
  return document;
}

/** Gives a record of known keys these keys as properties. The generator of the document only requires them, which linters report. */
function nameKeys<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(nameKeys) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const named = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, nameKeys(inner)]));
  const { propertyNames, additionalProperties: each, required, ...record } = named;
  if (propertyNames?.enum === undefined || !Array.isArray(required)) return named as Value;
  const properties = Object.fromEntries(required.map((key: string) => [key, each]));
  return { ...record, properties, required, additionalProperties: false } as Value;
}

/** Each named schema occurs twice, as input and as output. Removes those that no operation uses. */
function dropUnused<Document extends object>(document: Document): Document {
  const { components } = document as { components?: { schemas?: Record<string, unknown> } };
  const text = JSON.stringify(document);
  const schemas = Object.entries(components?.schemas ?? {});
  const used = schemas.filter(([name]) => text.includes(`"#/components/schemas/${name}"`));
  const less = { ...document, components: { ...components, schemas: Object.fromEntries(used) } };
  return used.length < schemas.length ? dropUnused(less) : less;
}

function isEmptyObject(schema: unknown): boolean {
  const { type, properties, additionalProperties } = (schema ?? {}) as Record<string, unknown>;
  return type === 'object' && additionalProperties === false && Object.keys(properties ?? {}).length === 0;
}
