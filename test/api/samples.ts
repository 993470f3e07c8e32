/** Input generated from the OpenAPI document: valid bodies, and bodies that are invalid in many ways. */

export type Schema = {
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  format?: string;
  minLength?: number;
  minimum?: number;
  minItems?: number;
  default?: unknown;
};
export type Operation = {
  operationId: string;
  tags?: string[];
  description?: string;
  security?: unknown[];
  parameters?: { in: string; name: string }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, unknown>;
};
export type Route = { method: string; path: string; operation: Operation };

export function routesOf(document: { paths: Record<string, Record<string, Operation>> }): Route[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

export const bodySchema = ({ operation }: Route): Schema | undefined =>
  operation.requestBody?.content['application/json']?.schema;

/** A value that the schema's words allow; patterns are left to luck. */
export function sample(schema: Schema): unknown {
  const { anyOf, oneOf, enum: values, properties = {}, items } = schema;
  if (schema.const !== undefined) return schema.const;
  if (values) return values[0];
  const choice = anyOf?.[0] ?? oneOf?.[0];
  if (choice) return sample(choice);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === 'object') {
    const needed = Object.entries(properties).filter(([name]) => schema.required?.includes(name));
    return Object.fromEntries(needed.map(([name, part]) => [name, sample(part)]));
  }
  if (type === 'array') return items ? Array.from({ length: schema.minItems ?? 1 }, () => sample(items)) : [];
  if (type === 'integer' || type === 'number') return Math.max(1, schema.minimum ?? 1);
  if (type === 'boolean') return true;
  if (schema.format === 'date-time') return '2099-01-01T00:00:00Z';
  return 'sample'.padEnd(schema.minLength ?? 0, 'x');
}

const nested = (depth: number) => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);

/** Values of a field that no schema or rule may break on. */
const oddValues: unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 53,
  '',
  ' ',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what it looks like, and must stay text.
  "\u202e\u0007' or 1=1; drop table site; --${jndi:ldap://x}",
  '../../../../etc/passwd',
  'x'.repeat(100_000),
  '🥐'.repeat(1000),
  [],
  [null],
  { a: { b: 1 } },
];

/** Bodies that are no object of fields, or that cannot be read. */
const oddWholes: unknown[] = [null, true, 1e308, 'x', [], [null], {}, nested(200)];

/** Copies of a whole body that are wrong in one place each. */
export function* oddBodies(schema: Schema, whole: Record<string, unknown>): Generator<unknown> {
  yield* oddWholes;
  yield { ...whole, no_such_field: 1 };
  yield { ...whole, constructor: 1, toString: 1, hasOwnProperty: 1 };
  for (const [name, part] of Object.entries(schema.properties ?? {})) {
    const { [name]: _left, ...without } = whole;
    yield without;
    for (const value of [...oddValues, '\0', '\ud800', nested(60)]) yield { ...whole, [name]: value };
    const inner = part.items ?? part.anyOf?.[0] ?? part;
    for (const key of Object.keys(inner.properties ?? inner.anyOf?.[0]?.properties ?? {})) {
      for (const value of oddValues) {
        const odd = { ...(sample(inner) as object), [key]: value };
        yield { ...whole, [name]: part.items ? [odd] : odd };
      }
    }
  }
}

export const oddPathParts = [
  'x',
  '-1',
  '%20',
  '%2e%2e%2f',
  '%00',
  '%E0%A4%A',
  '%ED%A0%80',
  'site_00000000000000000000000000',
  'SITE_00000000000000000000000000',
  'site_zzzzzzzzzzzzzzzzzzzzzzzzzz',
  'dep_01h455vb4pex5vsknk084sn02q',
  '__proto__',
  'x'.repeat(5000),
  '%F0%9F%A5%90',
  "'%20or%20''='",
];

const oddNames = ['no_such=1', '__proto__[x]=1', '%', '&&&==='];
const oddParameters = [
  'limit=1&limit=2',
  'limit[]=1',
  'limit=NaN',
  'limit=1e3',
  'limit=-0',
  'limit=999999999999999999999',
  'cursor=%00',
  'cursor=%ED%A0%80',
  `cursor=${'A'.repeat(4000)}`,
  'cursor[a]=b',
  'ref=%00',
  'path=..%2f..%2fetc',
  `path=${'a/'.repeat(2000)}`,
];
/** Queries in odd syntax, and odd values for a call that takes any. */
export function oddQueries({ operation }: Route): string[] {
  const takesSome = operation.parameters?.some((one) => one.in === 'query');
  return takesSome ? [...oddNames, ...oddParameters] : oddNames;
}

export const oddHeaders: Record<string, string>[] = [
  // With an end: an odd one alone leaves the wait at its 20 s, and here no worker ends it.
  { prefer: 'wait=abc, wait=0', accept: 'image/png', 'x-forwarded-for': 'not an address' },
  { prefer: 'wait=-5, respond-async;;;, ="', 'content-type': 'application/json; charset=utf-7' },
  { prefer: 'wait=99999999999999999999, respond-async', 'x-http-method-override': 'DELETE' },
  { prefer: 'respond-async', 'idempotency-key': 'x'.repeat(300) },
];
