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
    format?: string;
  };
};

/** One sentence about a field. `place` is its location, as "in the body". */
export function fieldFault(field: string, place: string, issue: Issue): string {
  if (/received undefined$/.test(issue.message)) return `The field ${field} is required ${place}.`;
  // A message that a schema sets itself is more specific than a generated one.
  const words = /^(Invalid|Too)\b/.test(issue.message) ? wordsOf(issue) : undefined;
  return `The field ${field} ${place} ${words ?? `is not valid: ${issue.message}`}.`;
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
  const { expected = '', origin, minimum, maximum, values, format } = params;
  if (keyword === 'invalid_type') return kinds[expected] && `must be ${kinds[expected]}`;
  if (keyword === 'invalid_value') return values && `must be one of: ${values.join(', ')}`;
  if (keyword === 'invalid_format' && format === 'datetime')
    return 'must be a time in UTC, such as 2026-01-31T12:00:00Z';
  if (keyword === 'too_small') {
    if (origin === 'number') return `must be at least ${minimum}`;
    if (minimum === 1) return 'must not be empty';
    return origin === 'array' ? `must have at least ${minimum} entries` : `must have at least ${minimum} characters`;
  }
  if (keyword !== 'too_big') return undefined;
  if (origin === 'number') return `must be at most ${maximum}`;
  return origin === 'array' ? `must have at most ${maximum} entries` : `must have at most ${maximum} characters`;
}
