/** The tools: those of everyday work, and three through which every other operation is found and called. */
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { type Capability, missing } from '#api/capabilities.ts';
import type { Operation } from '#api/operations/operations.ts';
import { everydayTools, toolName } from '#rules/calls/calls.ts';
import type { Config } from '#runtime/config.ts';
import { callsMax } from './batches.ts';
import { hintsOf } from './hints.ts';
import { inputSchema } from './schemas.ts';
import { descriptions } from './words.ts';

/** Operations that work without the capability, but are useless as tools without it. */
const needOf: Record<string, Capability> = { domain: 'domains', record: 'domains', upload: 'files' };

/** Operations whose capability is enabled. */
export function offered(operations: readonly Operation[], config: Config): Operation[] {
  return operations.filter(({ name, config: { capability = [] } }) => {
    const noun = needOf[name.split('.', 1)[0] ?? ''] ?? [];
    return [capability, noun].flat().every((need) => !missing(config, need));
  });
}

/** An operation with a tool of its own. */
export type EverydayOperation = Operation & { name: keyof typeof descriptions };

export const isEveryday = (operation: Operation): operation is EverydayOperation =>
  (everydayTools as readonly string[]).includes(operation.name);

/** The tools of the operations that are offered. */
export function toolsFor(operations: readonly Operation[]): Tool[] {
  return [...operations.filter(isEveryday).map(toolOf), ...searching];
}

/** The same tools, where the finder says which operations it leaves out. */
export const withUnlisted = (tools: readonly Tool[], unlisted: string | null): Tool[] =>
  tools.map((tool) =>
    unlisted && tool.name === finder ? { ...tool, description: `${tool.description} ${unlisted}` } : tool,
  );

function toolOf(operation: EverydayOperation): Tool {
  return {
    name: toolName(operation.name),
    description: descriptions[operation.name],
    inputSchema: inputSchema(operation) as Tool['inputSchema'],
    annotations: hintsOf(operation),
  };
}

const calls = {
  type: 'object' as const,
  properties: {
    calls: {
      type: 'array',
      minItems: 1,
      maxItems: callsMax,
      items: {
        type: 'object',
        properties: { operation: { type: 'string' }, arguments: { type: 'object' } },
        required: ['operation'],
        additionalProperties: false,
      },
    },
  },
  required: ['calls'],
  additionalProperties: false,
};

export const finder = 'find_operations';
export const reader = 'read_operations';
export const caller = 'call_operations';

const searching: Tool[] = [
  {
    name: finder,
    description:
      'Find what else can be done, in your own words: “refund a booking”, “own domain”, “export”. Returns the operations with their arguments and an example each.',
    inputSchema: {
      type: 'object',
      properties: {
        words: { type: 'string', description: 'Absent: a list of all operations.' },
        limit: { type: 'integer', minimum: 1, maximum: 20, default: 5 },
        offset: { type: 'integer', minimum: 0 },
      },
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  },
  {
    name: reader,
    description: `Call up to ${callsMax} operations that only read, in order.`,
    inputSchema: calls,
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  },
  {
    name: caller,
    description: `Call up to ${callsMax} operations in order. An argument may be the whole value {"$from":[0,"id"]}: the field id of the first call’s result. Stops at the first refusal, and says what was done.`,
    inputSchema: calls,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  },
];
