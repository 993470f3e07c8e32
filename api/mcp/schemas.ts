/** JSON schemas in as few words as a model needs: the API validates what they leave out. */
import { extraInputs, extrasOf } from '#api/operations/extra-inputs.ts';
import type { Operation, Schema } from '#api/operations/operations.ts';
import { renderCalls } from '#rules/calls/calls.ts';
import { kindOf } from '#rules/calls/kinds.ts';

const keptAsIs = ['type', 'enum', 'const', 'minimum', 'maximum', 'minItems', 'maxItems', 'default'] as const;

/** The inputs of an operation as a JSON schema. */
export function inputSchema(operation: Operation): Schema & { type: 'object' } {
  const properties = Object.fromEntries(inputsOf(operation).map(({ name, schema }) => [name, schema]));
  const required = operation.inputs.filter((one) => one.required).map(({ name }) => name);
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}), additionalProperties: false };
}

/** The inputs with compact schemas: those of the call, required ones first, then those that all such calls have. */
export function inputsOf(operation: Operation): { name: string; required: boolean; schema: Schema }[] {
  const { inputs, path } = operation;
  const own = inputs.map(({ name, required, place, schema }) => {
    const kind = place === 'path' ? kindOf(path, name) : undefined;
    if (name === 'public_id') return { name, required, schema: { type: 'string', description: publicId } };
    if (!kind) return { name, required, schema: compact(schema) };
    const also = kind.prefix === 'site' ? ' or the name' : '';
    return { name, required, schema: { type: 'string', description: `${kind.prefix}_…${also}` } };
  });
  const extra = extrasOf(operation).map((name) => ({ name, required: false, schema: extraSchemas[name] ?? {} }));
  const isRequired = ({ required }: { required: boolean }) => required;
  return [...own.filter(isRequired), ...own.filter((one) => !isRequired(one)), ...extra];
}

const publicId = 'The public_id of the site, its id (site_…) or its name.';

const extraSchemas: Readonly<Record<string, Schema>> = {
  [extraInputs.text]: { type: 'string', description: 'The contents of the file, if it is text.' },
  [extraInputs.base64]: {
    type: 'string',
    description: 'The contents in base64, if it is not text: at most about 20 KB. For more, create an upload link.',
  },
  [extraInputs.key]: { type: 'string' },
  [extraInputs.wait]: { type: 'integer', minimum: 0, maximum: 50, default: 20 },
  [extraInputs.offset]: { type: 'integer', minimum: 0 },
  [extraInputs.limit]: { type: 'integer', minimum: 1, maximum: 100_000 },
};

/** Types, values and the first sentences of descriptions, without patterns and lengths. */
export function compact(schema: Schema): Schema {
  const { properties, items, anyOf, oneOf, description } = schema as Schema & Composed;
  if (isYesOrNo(schema)) return { type: 'boolean', ...described(description) };
  const kept = keptAsIs.flatMap((key) => (schema[key] === undefined ? [] : [[key, schema[key]]]));
  return {
    ...Object.fromEntries(kept),
    ...(properties ? { properties: mapValues(properties, compact) } : {}),
    ...(properties && schema.required ? { required: schema.required } : {}),
    ...(items ? { items: compact(items) } : {}),
    ...(anyOf ? { anyOf: anyOf.map(compact) } : {}),
    ...(oneOf ? { anyOf: oneOf.map(compact) } : {}),
    ...described(description),
  };
}

type Composed = { items?: Schema; anyOf?: Schema[]; oneOf?: Schema[]; description?: string };

const described = (description: string | undefined) => {
  const words = description === undefined ? '' : modelWords(description);
  return words === '' ? {} : { description: words };
};

/** A query spells a boolean as text. */
const isYesOrNo = ({ enum: values }: Schema): boolean =>
  Array.isArray(values) && values.length === 2 && values.includes('true') && values.includes('false');

const mapValues = (object: Record<string, Schema>, map: (schema: Schema) => Schema): Record<string, Schema> =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));

/** Things of HTTP that a tool does not have. In backticks, `body` is an input. */
const httpWords =
  /`?\b(Prefer|Cache-Control|If-Match|If-None-Match|Accept|Content-Type|content-type|event-stream|text\/html|HTTP|header|Scope:)|(?<!`)\bbody\b/;

/** A text of the API description without the sentences about HTTP, and with the key under the name of its input. */
export function modelWords(text: string): string {
  return renderCalls(text, 'mcp')
    .replaceAll('Idempotency-Key', extraInputs.key)
    .split(/(?<=\.)\s+/)
    .filter((sentence) => !httpWords.test(sentence))
    .join(' ')
    .trim();
}
