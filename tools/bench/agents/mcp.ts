/** An agent with the tools of the MCP server: it finds what has no tool, and sends calls that need no look between them together. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { everydayTools, toolName } from '#rules/calls/calls.ts';
import { operations } from '#rules/calls/operations.ts';
import { parse } from './http.ts';
import { requireOutcome, type Surface, size } from './surface.ts';
import { type Arguments, filled, type Step } from './task.ts';

const isEveryday = ({ operation }: Step) => (everydayTools as readonly string[]).includes(operation);
const reads = ({ operation }: Step) => operations[operation].startsWith('GET ');

export async function mcpSurface(baseUrl: string, token: string): Promise<Surface> {
  const client = new Client({ name: 'bench', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', baseUrl), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  /** Operations whose arguments the agent has seen. */
  const seen = new Set<string>();

  async function tool(name: string, input: Arguments) {
    const result = (await client.callTool({ name, arguments: { ...input } }, undefined, {
      timeout: 180_000,
    })) as CallToolResult;
    const texts = result.content.map((block) => (block.type === 'text' ? block.text : JSON.stringify(block)));
    const [first = ''] = texts;
    return { isError: result.isError === true, text: first, bytes: size(name, JSON.stringify(input), ...texts) };
  }

  /** Finds operations that the agent has not used before, by their names. */
  async function find(steps: readonly Step[]) {
    const unseen = [...new Set(steps.filter((step) => !isEveryday(step)).map(({ operation }) => operation))].filter(
      (operation) => !seen.has(operation),
    );
    let bytes = 0;
    for (const operation of unseen) {
      const found = await tool('find_operations', {
        words: operation.replace('.', ' ').replaceAll('_', ' '),
        limit: 1,
      });
      if (!found.text.includes(toolName(operation)))
        throw new Error(`find_operations does not find ${operation}: ${found.text.slice(0, 300)}`);
      seen.add(operation);
      bytes += found.bytes;
    }
    return { calls: unseen.length, bytes };
  }

  async function one(step: Step, known: Map<string, unknown>) {
    const answered = await tool(toolName(step.operation), filled(step.arguments ?? {}, known) as Arguments);
    const value = parse(answered.text);
    requireOutcome(step, answered.isError ? value?.error?.code : undefined, answered.text);
    known.set(step.operation, answered.text);
    if (step.as) known.set(step.as, value ?? answered.text);
    return { calls: 1, bytes: answered.bytes };
  }

  async function together(steps: readonly Step[], known: Map<string, unknown>) {
    const positions = new Map(steps.flatMap(({ as }, at) => (as ? [[as, at] as const] : [])));
    const calls = steps.map(({ operation, arguments: given = {} }) => ({
      operation: toolName(operation),
      arguments: placed(given, positions, known),
    }));
    const answered = await tool(steps.every(reads) ? 'read_operations' : 'call_operations', { calls });
    const value = parse(answered.text);
    const last = steps.at(-1) as Step;
    requireOutcome(last, answered.isError ? (value?.refused?.error ?? value?.error)?.code : undefined, answered.text);
    const results: unknown[] = value?.results ?? value?.done ?? [];
    for (const [at, { as, operation }] of steps.entries()) {
      known.set(operation, JSON.stringify(results[at]));
      if (as) known.set(as, results[at]);
    }
    return { calls: 1, bytes: answered.bytes };
  }

  return {
    name: 'MCP',
    async start() {
      const { tools } = await client.listTools();
      return { calls: 1, bytes: size(JSON.stringify(tools), client.getInstructions() ?? '') };
    },
    async run(_what, steps, known) {
      const [only] = steps;
      const found = await find(steps);
      const done =
        steps.length === 1 && only && isEveryday(only) ? await one(only, known) : await together(steps, known);
      return { calls: found.calls + done.calls, bytes: found.bytes + done.bytes };
    },
    close: () => client.close(),
  };
}

/** Results of the same batch keep their references, by position. */
function placed(value: unknown, positions: ReadonlyMap<string, number>, known: Map<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((one) => placed(one, positions, known));
  if (typeof value !== 'object' || value === null) return value;
  if ('$from' in value) {
    const [name, ...path] = value.$from as [string, ...(string | number)[]];
    const at = positions.get(name);
    return at === undefined ? filled(value, known) : { $from: [at, ...path] };
  }
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, placed(one, positions, known)]));
}
