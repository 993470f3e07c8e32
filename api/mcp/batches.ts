/** Several operations in one tool call: in order, with values of earlier results, up to the first refusal. */
import type { ApiResponse, Input } from '#api/operations/inject.ts';
import { refused } from '#api/operations/invoke.ts';
import type { Operation } from '#api/operations/operations.ts';
import { toolName } from '#rules/calls/calls.ts';
import { type AppError, errors } from '#runtime/errors.ts';
import { partOf, type Shown, shownOf } from './results.ts';

export const callsMax = 20;
/** Bytes of all results of a batch. */
const batchBytes = 60_000;
/** Each call of a batch has an equal part. */
export const shareOf = (steps: readonly Step[]): number => Math.max(2000, Math.floor(batchBytes / steps.length));

export type Step = { operation: Operation; input: Input };
export type Batch = { steps: Step[] } | { refusal: AppError };

/** The calls that the input names. Nothing is called where one of them cannot be. */
export function readBatch(
  operations: readonly Operation[],
  input: Input,
  { readsOnly }: { readsOnly: boolean },
): Batch {
  const { calls, ...others } = input;
  const [other] = Object.keys(others);
  if (other !== undefined) return { refusal: wrong(`There is no input ${JSON.stringify(other.slice(0, 80))}.`) };
  if (!Array.isArray(calls) || calls.length === 0 || calls.length > callsMax)
    return { refusal: wrong(`The input calls must be a list of 1 to ${callsMax} calls.`) };
  const steps: Step[] = [];
  for (const [index, one] of calls.entries()) {
    const { operation: name, arguments: given = {} } = (one ?? {}) as { operation?: unknown; arguments?: unknown };
    const operation = operations.find((known) => name === toolName(known.name) || name === known.name);
    if (!operation) return { refusal: unknownOperation(index, name) };
    if (!isObject(given)) return { refusal: wrong(`The arguments of call ${index} must be an object.`) };
    if (readsOnly && operation.method !== 'GET') return { refusal: changes(toolName(operation.name)) };
    steps.push({ operation, input: given });
  }
  return { steps };
}

const example = 'Send {"calls":[{"operation":"token_list","arguments":{}}]}.';
const wrong = (message: string) => errors.invalid_input(message, { nextAction: example });

function unknownOperation(index: number, name: unknown): AppError {
  const shown = typeof name === 'string' ? ` ${JSON.stringify(name.slice(0, 80))}` : '';
  return errors.not_found(`Call ${index} names no operation${shown}. Nothing was called.`, {
    nextAction: 'Find its name with `find_operations`.',
  });
}

const changes = (name: string) =>
  errors.invalid_input(`${name} is not only reading. Nothing was called.`, {
    nextAction: 'Send the same calls to `call_operations`.',
  });

type Done = { value: unknown; blocks: Shown['blocks'] };
/** What was done, and where it stopped. */
export type Outcome = { done: Done[]; refused?: { call: number; answered: ApiResponse } };
/** `shown` is what of the response is shown, if that is not all of it. */
type Answered = ApiResponse & { shown?: ApiResponse };

/** Runs the calls one after the other. `make` makes one; `isOver` ends the batch between two calls. */
export async function runBatch(
  steps: readonly Step[],
  make: (step: Step, index: number) => Promise<Answered>,
  isOver: () => boolean,
): Promise<Outcome> {
  const results: unknown[] = [];
  const done: Done[] = [];
  const share = shareOf(steps);
  for (const [call, { operation, input }] of steps.entries()) {
    if (isOver()) break;
    const filled = withResults(input, results);
    const answered: Answered =
      'fault' in filled
        ? refused(operation, wrong(filled.fault))
        : await make({ operation, input: filled.value as Input }, call);
    if (answered.status >= 400) return { done, refused: { call, answered } };
    results.push(answered.body);
    const part = partOf(operation, input, share);
    done.push(shownOf(answered.shown ?? answered, { ...part, limit: Math.min(part.limit, share) }));
  }
  return { done };
}

/**
 * The arguments with the values of earlier results in the places of `{ "$from": [0, "id"] }`. `room` is what these
 * values may have in all: a long result that is named a thousand times would fill the memory of the process.
 */
export function withResults(
  value: unknown,
  results: readonly unknown[],
  depth = 0,
  room = { bytes: filledBytesMax },
): Filled {
  if (depth > depthMax) return { fault: `The arguments are nested more than ${depthMax} deep.` };
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) {
      const filled = withResults(item, results, depth + 1, room);
      if ('fault' in filled) return filled;
      items.push(filled.value);
    }
    return { value: items };
  }
  if (!isObject(value)) return { value };
  if (Object.hasOwn(value, '$from'))
    return Object.keys(value).length === 1 ? valueAt(value.$from, results, room) : { fault: shape };
  const fields: Input = {};
  for (const [name, part] of Object.entries(value)) {
    const filled = withResults(part, results, depth + 1, room);
    if ('fault' in filled) return filled;
    Object.defineProperty(fields, name, { value: filled.value, enumerable: true, configurable: true, writable: true });
  }
  return { value: fields };
}

type Filled = { value: unknown } | { fault: string };
const depthMax = 32;
/** No call takes more. */
const filledBytesMax = 1_048_576;
const shape =
  '$from must be the only field of its object, and a list: the number of an earlier call, then field names.';

function valueAt(path: unknown, results: readonly unknown[], room: { bytes: number }): Filled {
  if (!Array.isArray(path) || path.length === 0) return { fault: shape };
  const nothing = `Nothing is at ${JSON.stringify(path).slice(0, 200)} in the results of the calls before.`;
  let at: unknown = results;
  for (const key of path) {
    const isThere =
      (typeof key === 'number' && Array.isArray(at) && Object.hasOwn(at, key)) ||
      (typeof key === 'string' && isObject(at) && Object.hasOwn(at, key));
    if (!isThere) return { fault: nothing };
    at = (at as Record<string | number, unknown>)[key];
  }
  // The result is text or a picture.
  if (at === undefined) return { fault: nothing };
  room.bytes -= Buffer.byteLength(JSON.stringify(at));
  return room.bytes < 0 ? { fault: 'The values of earlier results have more than 1 MiB in all.' } : { value: at };
}

const isObject = (value: unknown): value is Input =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
