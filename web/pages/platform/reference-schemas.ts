/** JSON Schema (draft 2020-12, as OpenAPI 3.1 uses it) as lists of fields. */
import { type Html, html } from '#web/html.ts';
import { markdownHtml } from '#web/markdown.ts';

export type Schema = {
  $ref?: string;
  type?: string | string[];
  description?: string | undefined;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: boolean | Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
};
export type Schemas = Readonly<Record<string, Schema>>;

/** Each property with its type and description, and those inside it. `bare`: without the list around them. */
export function fieldList(schema: Schema, bare = false): Html {
  const rows = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const inner = innerOf(field);
    return html`<li><code>${name}</code> <small>${typeName(field)}${bounds(field)}${schema.required?.includes(name) ? ', required' : null}${field.default === undefined ? null : html`, default <code>${JSON.stringify(field.default)}</code>`}</small>
${field.description ? markdownHtml(field.description).body : null}${inner ? fieldList(inner) : null}</li>
`;
  });
  return bare ? html`${rows}` : html`<ul class="fields">${rows}</ul>`;
}

/** The object inside a field: itself, what its list has, or one of its alternatives. */
function innerOf(schema: Schema): Schema | undefined {
  if (schema.properties) return schema;
  if (schema.items) return innerOf(schema.items);
  return (schema.anyOf ?? schema.oneOf)?.map(innerOf).find((one) => one !== undefined);
}

/** The type in words: `text`, `list of Site`, `"site" or "posts"`. A named object is a link. */
export function typeName(schema: Schema): Html {
  const { $ref, anyOf, oneOf, items, type, additionalProperties } = schema;
  if ($ref) return html`<a href="#object-${nameOf($ref)}">${nameOf($ref)}</a>`;
  const choices = anyOf ?? oneOf;
  if (choices) return joined(choices.map(typeName));
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.enum) return joined(schema.enum.map((one) => html`<code>${JSON.stringify(one)}</code>`));
  if (Array.isArray(type)) return joined(type.map((one) => typeName({ ...schema, type: one })));
  if (items) return html`list of ${typeName(items)}`;
  if (typeof additionalProperties === 'object' && !schema.properties)
    return html`object of ${typeName(additionalProperties)}`;
  if (schema.format === 'date-time') return html`time`;
  return html`${typeWords[type ?? ''] ?? type ?? 'anything'}`;
}

const typeWords: Record<string, string> = { string: 'text', integer: 'whole number', boolean: 'true or false' };
const nameOf = (reference: string) => reference.split('/').at(-1) ?? '';
const joined = (parts: Html[]): Html => html`${parts.map((part, at) => html`${at > 0 ? ' or ' : null}${part}`)}`;

function bounds({ minimum, maximum, maxLength, maxItems }: Schema): string {
  const isUsual = (value: number | undefined) => value === undefined || Math.abs(value) >= Number.MAX_SAFE_INTEGER;
  if (!isUsual(minimum) && !isUsual(maximum)) return `, ${minimum} to ${maximum}`;
  if (!isUsual(minimum)) return `, at least ${minimum}`;
  if (!isUsual(maximum)) return `, at most ${maximum}`;
  if (maxLength !== undefined) return `, at most ${maxLength} characters`;
  return maxItems === undefined ? '' : `, at most ${maxItems}`;
}

/** Names of the objects that these operations refer to, also through each other. */
export function objectNames(operations: readonly unknown[], schemas: Schemas): string[] {
  const found = new Set<string>();
  const waiting = [JSON.stringify(operations)];
  for (const text of waiting)
    for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (found.has(name)) continue;
      found.add(name);
      waiting.push(JSON.stringify(schemas[name] ?? {}));
    }
  return [...found].sort();
}
