import { afterAll, expect, test } from 'vitest';
import { catalog } from '#runtime/errors.ts';
import { callWith, createFixture } from './fixture.ts';
import { type Operation, routesOf, type Schema } from './samples.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());
const anyone = callWith(fixture.url);
const document = (await anyone('GET', '/openapi.json')).body;
const routes = routesOf(document);

/** Every `$ref` anywhere in the document. */
function refs(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(refs);
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, inner]) => (key === '$ref' ? [String(inner)] : refs(inner)));
}

test('the document is OpenAPI 3.1 for this installation, with bearer security', () => {
  expect(document.openapi).toBe('3.1.0');
  expect(document.servers).toEqual([{ url: fixture.config.baseUrl }]);
  expect(document.security).toEqual([{ bearer: [] }]);
  expect(document.components.securitySchemes).toEqual({ bearer: { type: 'http', scheme: 'bearer' } });
});

test.each([...new Set(routes.map(({ path }) => path))])(
  'the description has every method that %s accepts',
  async (path) => {
    const { headers } = await anyone('PROPFIND', path.replaceAll(/\{\w+\}/g, 'x'));
    const answered = headers
      .get('allow')
      ?.split(', ')
      .filter((method) => method !== 'HEAD' && method !== 'OPTIONS');
    const listed = routes.filter((route) => route.path === path).map(({ method }) => method);
    expect(listed.sort()).toEqual(answered);
  },
);

test.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s has a name, a summary, responses, and every path parameter',
  (_name, { path, operation }) => {
    expect(operation.operationId).toMatch(/^[a-z_]+\.[a-z_]+$/);
    expect((operation as Operation & { summary?: string }).summary).toMatch(/^[A-Z]/);
    expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['200', 'default']));
    const texts = [operation, ...Object.values(operation.responses)] as { description?: string }[];
    for (const { description } of texts) expect(description).toMatch(/^(?!Default Response)[A-Z]/);
    const parts = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const described = (operation.parameters ?? []).filter((one) => one.in === 'path').map(({ name }) => name);
    expect(described.sort()).toEqual(parts.sort());
  },
);

test('bodies of files and refusals are described, and tags are declared', () => {
  const bodyOf = (method: string, path: string) =>
    Object.keys(document.paths[path][method].requestBody.content as object);
  expect(bodyOf('put', '/v1/sites/{id}/assets/{path}')).toEqual(['application/octet-stream']);
  expect(bodyOf('put', '/v1/deployments/{id}/files/{sha256}')).toEqual(['application/octet-stream']);
  const archive = ['application/x-tar', 'application/gzip', 'application/zip'];
  expect(bodyOf('post', '/v1/deployments/{id}/archive')).toEqual(archive);
  for (const { operation } of routes) expect(operation.responses['4XX']).toEqual(operation.responses.default);
  const declared = document.tags.map(({ name }: { name: string }) => name);
  for (const { description } of document.tags) expect(description).toMatch(/^[A-Z].*\.$/);
  expect(new Set(routes.flatMap(({ path, method }) => document.paths[path][method.toLowerCase()].tags))).toEqual(
    new Set(declared),
  );
});

test('operation names are unique, and only the sign-in exchange is open under /v1', () => {
  const ids = routes.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  const open = routes.filter(({ operation }) => operation.security).map(({ path }) => path);
  const bookings = [
    '/b/{public_id}',
    '/b/{public_id}',
    '/b/{public_id}/challenge',
    '/b/{public_id}/days',
    '/b/{public_id}/slots',
  ];
  const forms = ['/f/{form_id}', '/f/{form_id}', '/f/{form_id}/challenge'];
  const signIn = ['/v1/auth/requests', '/v1/auth/requests/{id}/redeem'];
  expect(open.sort()).toEqual([...bookings, ...forms, '/healthz', '/readyz', ...signIn]);
});

test('every reference leads to a schema, and every schema is used', () => {
  const names = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
  expect([...new Set(refs(document))].sort()).toEqual(names.sort());
});

type Link = { operationId: string; parameters: Record<string, string> };
const linked = routes.flatMap((route) => {
  const answer = route.operation.responses['200'] as { links?: Record<string, Link>; content?: Answered } | undefined;
  return Object.values(answer?.links ?? {}).map((link) => ({ route, link, content: answer?.content }));
});

test('each path parameter of a link is in the response, under its name', () => {
  for (const { route, link, content } of linked) {
    const target = routes.find(({ operation }) => operation.operationId === link.operationId);
    const parts = [...(target?.path.matchAll(/\{(\w+)\}/g) ?? [])].map(([, name]) => name);
    expect(parts).toEqual(expect.arrayContaining(Object.keys(link.parameters)));
    for (const value of Object.values(link.parameters)) {
      const [, part, inList, field = ''] =
        /^\$(?:request\.path\.(\w+)|response\.body#(\/items\/0)?\/(\w+))$/.exec(value) ?? [];
      if (part !== undefined) expect(route.path).toContain(`{${part}}`);
      else
        expect([route.path, Object.keys(propertiesOf(content, inList !== undefined))]).toEqual([
          route.path,
          expect.arrayContaining([field]),
        ]);
    }
  }
});

test('responses that create or list a resource link to its calls', () => {
  const from = (id: string) => linked.filter(({ route }) => route.operation.operationId === id).map(({ link }) => link);
  const aboutSites = routes
    .filter(({ path }) => /^\/v1\/sites\/\{id\}/.test(path))
    .map(({ operation }) => operation.operationId);
  for (const id of ['site.create', 'site.list'])
    expect(
      from(id)
        .map(({ operationId }) => operationId)
        .sort(),
    ).toEqual(aboutSites.sort());
  expect(from('site.create')).toContainEqual({ operationId: 'site.publish', parameters: { id: '$response.body#/id' } });
  expect(from('site.publish').map(({ operationId }) => operationId)).toContain('deployment.log');
  expect(from('collaborator.list')).toEqual([
    {
      operationId: 'collaborator.remove',
      parameters: { id: '$request.path.id', account_id: '$response.body#/items/0/account_id' },
    },
  ]);
  // Every thing that an address names by its id is linked to from somewhere.
  const reached = new Set(linked.map(({ link }) => link.operationId));
  const unreached = routes.filter(
    ({ path, operation }) => path.includes('{id}') && !reached.has(operation.operationId),
  );
  expect(unreached.map(({ operation }) => operation.operationId)).toEqual(['access.redeem']);
});

type Answered = Record<string, { schema?: Schema & { $ref?: string } }>;

function propertiesOf(content: Answered | undefined, inList: boolean): Record<string, Schema> {
  const follow = (schema: (Schema & { $ref?: string }) | undefined): Schema | undefined =>
    schema?.$ref ? document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] : schema;
  const whole = follow(content?.['application/json']?.schema);
  return (inList ? follow(whole?.properties?.items?.items) : whole)?.properties ?? {};
}

test('the description names every error code and groups every operation by capability', () => {
  expect(document.components.schemas.Error.properties.error.properties.code.enum).toEqual(Object.keys(catalog));
  const used = new Set(routes.flatMap(({ operation }) => operation.tags ?? []));
  expect(document.tags.map(({ name }: { name: string }) => name).sort()).toEqual([...used].sort());
  const grouped = document['x-tagGroups'].flatMap(({ tags }: { tags: string[] }) => tags);
  expect(grouped.sort()).toEqual([...used].sort());
  expect([...used].filter((name) => !/^[A-Z]/.test(name))).toEqual([]);
});
