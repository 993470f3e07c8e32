/** Describes invalid fields in sentences that can be relayed to owners; zod's messages are for programmers. Pure. */

/**
 * An issue as fastify-type-provider-zod returns it: zod's issue, with everything but its code, path and message in
 * `params`.
 */
export type Issue = {
  keyword: string;
  instancePath: string;
  message: string;
  params: {
    keys?: string[];
    expected?: string;
    origin?: string;
    minimum?: number;
    maximum?: number;
    values?: unknown[];
  };
};

/** How a field is wrong, as in "must not be empty"; null if it is missing. `schema` is that of everything in its place. */
export function faultWords(path: readonly string[], issue: Issue, schema: unknown): string | null {
  if (/received undefined$/.test(issue.message)) return null;
  // A message that a schema sets itself is more specific than a generated one.
  const isGenerated = /^(Invalid|Too)\b/.test(issue.message);
  const own = issue.message.startsWith('must ') ? issue.message : `is not valid: ${issue.message}`;
  const words = isGenerated ? (rangeOf(schemaAt(schema, path)) ?? wordsOf(issue)) : undefined;
  return words ?? own;
}

const kinds: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

function wordsOf({ keyword, params }: Issue): string | undefined {
  const { expected = '', origin, minimum, maximum, values } = params;
  if (keyword === 'invalid_type') return kinds[expected] && `must be ${kinds[expected]}`;
  if (keyword === 'invalid_value') return values && `must be one of: ${values.join(', ')}`;
  if (keyword === 'too_small') {
    if (origin === 'number') return `must be at least ${minimum}`;
    if (minimum === 1) return 'must not be empty';
    return origin === 'array' ? `must have at least ${minimum} entries` : `must have at least ${minimum} characters`;
  }
  if (keyword !== 'too_big') return undefined;
  if (origin === 'number') return `must be at most ${maximum}`;
  return origin === 'array' ? `must have at most ${maximum} entries` : `must have at most ${maximum} characters`;
}

/** What is read of a zod schema. */
type Schema = {
  shape?: Record<string, Schema>;
  minValue?: number | null;
  maxValue?: number | null;
  isInt?: boolean;
  def: { type: string; innerType?: Schema; in?: Schema; element?: Schema; valueType?: Schema };
};

/** The schema of the field, without what makes it optional; undefined if it depends on other fields. */
function schemaAt(schema: unknown, path: readonly string[]): Schema | undefined {
  const { def, shape } = (schema ?? {}) as Partial<Schema>;
  if (!def) return undefined;
  const inner = def.innerType ?? def.in;
  if (inner) return schemaAt(inner, path);
  const [field, ...rest] = path;
  if (field === undefined) return schema as Schema;
  return schemaAt(shape?.[field] ?? def.element ?? def.valueType, rest);
}

/** Names the whole range of a number, so that the next call is right. */
function rangeOf(schema: Schema | undefined): string | undefined {
  const { minValue: min, maxValue: max, isInt } = schema?.def.type === 'number' ? schema : {};
  const isRange = [min, max].every((bound) => typeof bound === 'number' && Math.abs(bound) < Number.MAX_SAFE_INTEGER);
  return isRange ? `must be ${isInt ? 'a whole number' : 'a number'} from ${min} to ${max}` : undefined;
}
