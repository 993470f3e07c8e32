/**
 * A tool call is a request to the API within this process, with the caller's token, address and request id. So
 * authorization, limits, idempotency, validation and errors are the API's own.
 */
import { kindOf } from '#rules/calls/kinds.ts';
import { type AppError, errors, withRemedy } from '#runtime/errors.ts';
import { extraInputs, extrasOf } from './extra-inputs.ts';
import type { ApiClient, ApiResponse, Input } from './inject.ts';
import type { Operation, Place } from './operations.ts';

/**
 * Sends the request of a tool call. Input that fits no request is refused with the API's error. `waitSeconds` overrides
 * the input's value.
 */
export async function callOperation(
  send: ApiClient,
  operation: Operation,
  given: Input,
  waitSeconds?: number,
): Promise<ApiResponse> {
  const { method, takesJson, takesFile } = operation;
  const input = { ...pathDefaults(operation), ...given };
  const fault = faultIn(operation, input);
  if (fault) return refused(operation, fault);
  const file = takesFile ? fileOf(input) : undefined;
  if (takesFile && !file) {
    return refused(
      operation,
      withRemedy('invalid_input', 'Send the file either as `text` or as `base64`, but not both.'),
    );
  }
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(partOf(operation, input, 'query')))
    for (const one of [value].flat()) query.append(name, textOf(one));
  const path = `${pathOf(operation, input)}${query.size > 0 ? `?${query}` : ''}`;
  const { [extraInputs.key]: key, [extraInputs.wait]: asked, [extraInputs.offset]: from } = input;
  return await send(method, path, {
    body: takesJson ? partOf(operation, input, 'body') : undefined,
    file,
    type: file && typeOf(file, operation.config.takes),
    key: key === undefined ? undefined : textOf(key),
    waitSeconds: waitSeconds ?? (asked as number | undefined),
    from: from as number | undefined,
  });
}

/** What a path has where the input leaves it out. */
function pathDefaults({ inputs }: Operation): Input {
  const known = inputs.filter(({ place, schema }) => place === 'path' && schema.default !== undefined);
  return Object.fromEntries(known.map(({ name, schema }) => [name, schema.default]));
}

/** The media type of a file's bytes among those that a call takes; none if it takes any. The call reads the bytes itself. */
function typeOf(file: Buffer, takes: readonly string[] | undefined): string | undefined {
  const begin = file.toString('latin1', 0, 2);
  const found = begin === 'PK' ? 'application/zip' : begin === '\x1f\x8b' ? 'application/gzip' : takes?.[0];
  return takes && (takes.find((type) => type === found) ?? takes[0]);
}

/** Checks what prevents a request from being built; the API validates everything else. */
function faultIn(operation: Operation, input: Input): AppError | undefined {
  const extras = extrasOf(operation);
  const known = [...operation.inputs.map(({ name }) => name), ...extras];
  const unknown = Object.keys(input).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    return errors.invalid_input(`There is no input ${JSON.stringify(unknown.slice(0, 80))}.`, {
      nextAction: known.length > 0 ? `The inputs are ${known.join(', ')}.` : 'This takes no inputs.',
    });
  }
  for (const name of [extraInputs.wait, extraInputs.offset, extraInputs.limit].filter((one) => extras.includes(one))) {
    const { [name]: number = 0 } = input;
    if (!Number.isSafeInteger(number) || (number as number) < 0)
      return withRemedy('invalid_input', `The input ${name} must be a whole number of at least 0.`);
  }
  for (const { name, place } of operation.inputs) {
    if (place === 'path' && !isPath(name, input[name])) return badPath(operation, name, input[name]);
  }
  return undefined;
}

function badPath({ path }: Operation, name: string, value: unknown): AppError {
  const kind = kindOf(path, name);
  const what = kind ? `the id of a ${kind.noun} (${kind.prefix}_…)` : 'text or a number';
  const wanted = name === 'path' ? 'a path without empty, . or .. segments' : what;
  if (value !== undefined) return withRemedy('invalid_input', `The input ${name} must be ${wanted}.`);
  return withRemedy('invalid_input', `The input ${name} is missing: it must be ${wanted}.`);
}

/** A `..` segment would be normalised, and reach another operation. */
function isPath(name: string, value: unknown): boolean {
  const parts = name === 'path' ? textOf(value).split('/') : [textOf(value)];
  return (
    (typeof value === 'string' || typeof value === 'number') &&
    parts.every((part) => !['', '.', '..'].includes(part)) &&
    textOf(value).isWellFormed()
  );
}

function pathOf({ path, inputs }: Operation, input: Input): string {
  return inputs
    .filter(({ place }) => place === 'path')
    .reduce((filled, { name }) => {
      const text = textOf(input[name]);
      const written = name === 'path' ? text.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(text);
      return filled.replace(`{${name}}`, () => written);
    }, path);
}

function partOf({ inputs }: Operation, input: Input, place: Place): Input {
  const here = inputs.filter((one) => one.place === place && Object.hasOwn(input, one.name));
  return Object.fromEntries(here.map(({ name }) => [name, input[name]]));
}

function fileOf(input: Input): Buffer | undefined {
  const { [extraInputs.text]: text, [extraInputs.base64]: base64 } = input;
  if (typeof base64 === 'string')
    return /^[A-Za-z0-9+/]*={0,2}$/.test(base64) ? Buffer.from(base64, 'base64') : undefined;
  return typeof text === 'string' ? Buffer.from(text) : undefined;
}

const textOf = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));

/** The response to a call that is refused before it is made. */
export function refused({ path }: Pick<Operation, 'path'>, error: AppError): ApiResponse {
  const body = { error: error.toBody() };
  const bytes = Buffer.from(JSON.stringify(body));
  return { status: error.status, type: 'application/json', bytes, from: 0, more: false, path, body, refusal: error };
}
