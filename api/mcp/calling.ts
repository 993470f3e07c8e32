/** Calls of operations for one message: the work that they start is followed, long lists are shortened. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { type ApiClient, type ApiResponse, type Input, isJson } from '#api/operations/inject.ts';
import { callOperation, refused as refusedCall } from '#api/operations/invoke.ts';
import { follow, followed, type ProgressCallback } from '#api/operations/progress.ts';
import { pageItems } from '#api/pagination.ts';
import { toolName } from '#rules/calls/calls.ts';
import type { Config } from '#runtime/config.ts';
import { runBatch, type Step, shareOf } from './batches.ts';
import { failureOf, partOf, resultOf, shownError, usualBytes } from './results.ts';
import type { SiteNames } from './site-names.ts';
import { tooLarge } from './too-large.ts';

/** A batch waits for all its work for at most this long; what is not finished then is read again. */
const batchWaitSeconds = 50;
const usualWaitSeconds = 20;

/** How one message makes its calls. */
export type Calling = {
  send: ApiClient;
  /** Reports progress to a client that asked for it. */
  tell: ProgressCallback | undefined;
  /** Aborted by a disconnect or a shutdown. */
  gone: AbortSignal;
  withIds: SiteNames;
  config: Config;
};

type Made = ApiResponse & { input: Input };

async function make(
  { send, withIds, config }: Calling,
  { operation, input: given }: Step,
  waitSeconds?: number,
): Promise<Made> {
  const named = await withIds(operation, given);
  if ('refusal' in named) return { ...named.refusal, input: given };
  const { input } = named;
  const answered = await callOperation(send, operation, input, waitSeconds);
  const fault = tooLarge(operation, answered, config);
  if (fault) return { ...refusedCall(operation, fault), input };
  return { ...(await shortened(send, { operation, input }, answered, usualBytes)), input };
}

/** Calls one operation, and follows it to its end if the client reads its progress. */
export async function callOne(calling: Calling, step: Step): Promise<CallToolResult> {
  const { send, tell, gone } = calling;
  const { [step.operation.name]: how } = followed;
  const begun = await make(calling, step, how && tell ? 0 : undefined);
  const { body, input } = begun;
  if (!how || !tell || begun.status >= 400 || !body) return resultOf(begun, partOf(step.operation, step.input));
  const ended = await follow(send, how, { ...begun, body }, { input, tell, gone });
  // The work failed, though the request that read its state succeeded.
  if (ended !== begun && ended.body?.error && ended.status < 400) return failureOf(ended.body.error);
  return resultOf(ended, partOf(step.operation, step.input));
}

/** Calls operations in order, up to the first refusal. */
export async function callAll(calling: Calling, steps: readonly Step[]): Promise<CallToolResult> {
  const { tell, gone } = calling;
  const started = performance.now();
  const makeNext = async (step: Step, index: number) => {
    const { operation } = step;
    const elapsed = (performance.now() - started) / 1000;
    await tell?.(Math.ceil(elapsed) + index, `${index + 1} of ${steps.length}: ${toolName(operation.name)}`);
    if (!(operation.name in followed)) {
      const made = await make(calling, step);
      // Later calls may name items that there is no room to show.
      const shown = await shortened(calling.send, { operation, input: made.input }, made, shareOf(steps));
      return { ...made, shown: shown.status < 400 ? shown : made };
    }
    const asked = typeof step.input.wait_seconds === 'number' ? step.input.wait_seconds : usualWaitSeconds;
    return await make(calling, step, Math.max(0, Math.min(asked, Math.floor(batchWaitSeconds - elapsed))));
  };
  const { done, refused } = await runBatch(steps, makeNext, () => gone.aborted);
  const results = done.map(({ value = 'See the picture.' }) => value);
  const isComplete = !refused && results.length === steps.length;
  const text = JSON.stringify(isComplete ? { results } : stopped(steps, results, refused));
  const content = [{ type: 'text' as const, text }, ...done.flatMap(({ blocks }) => blocks)];
  return { ...(isComplete ? {} : { isError: true }), content };
}

function stopped(
  steps: readonly Step[],
  results: unknown[],
  refused: { call: number; answered: ApiResponse } | undefined,
) {
  const names = steps.map(({ operation }) => toolName(operation.name));
  const at = refused?.call ?? results.length;
  const error = refused && shownError((refused.answered.body?.error ?? {}) as Input);
  return {
    done: results,
    ...(error ? { refused: { call: at, operation: names[at], error } } : {}),
    not_called: names.slice(refused ? at + 1 : at),
  };
}

/** If a page of a list is too large, requests a shorter one with the same start. */
async function shortened(
  send: ApiClient,
  { operation, input }: Step,
  answered: ApiResponse,
  room: number,
): Promise<ApiResponse> {
  const isList = operation.method === 'GET' && operation.inputs.some(({ name }) => name === 'limit');
  let now = answered;
  for (let limit = shorterPage(now, input.limit, room); isList && limit > 0; limit = shorterPage(now, limit, room)) {
    now = await callOperation(send, operation, { ...input, limit });
  }
  return now;
}

/** How many items fit if the response is too large, by their average size; 0 if it fits or has too few items. */
function shorterPage({ body, bytes, more, type }: ApiResponse, asked: unknown, room: number): number {
  const limit = typeof asked === 'number' ? asked : pageItems;
  // A truncated response has an unknown number of items.
  if (more && isJson({ type })) return Math.floor(limit / 8);
  const items = Array.isArray(body?.items) && 'next_cursor' in body ? body.items.length : 0;
  if (items <= 1 || bytes.length <= room) return 0;
  return Math.max(1, Math.min(items - 1, Math.floor((items * room * 0.8) / bytes.length)));
}
