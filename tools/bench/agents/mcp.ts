/** An agent with the tools of the MCP server: it finds what has no tool, and sends calls that need no look between them together. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { everydayTools, toolName } from '#rules/calls/calls.ts';
import { operations } from '#rules/calls/operations.ts';
import { parse } from './http.ts';
import { type Cost, requireOutcome, type Surface, size } from './surface.ts';
import { type Arguments, filled, type Step } from './task.ts';

/** Calls that build, and how long the agent waits for them. */
const builds = /^(site\.publish|preview\.build)$/;
const waitSeconds = 50;

const reads = ({ operation }: Step) => operations[operation].startsWith('GET ');

type Told = { isError: boolean; text: string; bytes: number };
type Tool = (name: string, input: Arguments) => Promise<Told>;

export async function mcpSurface(baseUrl: string, token: string): Promise<Surface> {
  const client = new Client({ name: 'bench', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', baseUrl), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  const tool: Tool = async (name, input) => {
    const asked = { name, arguments: { ...input } };
    const { content, isError } = (await client.callTool(asked, undefined, { timeout: 180_000 })) as CallToolResult;
    const texts = content.map((block) => (block.type === 'text' ? block.text : JSON.stringify(block)));
    return { isError: isError === true, text: texts[0] ?? '', bytes: size(name, JSON.stringify(input), ...texts) };
  };
  /** Operations whose arguments the agent has seen. */
  const seen = new Set<string>(everydayTools);
  return {
    name: 'MCP',
    async start() {
      const { tools } = await client.listTools();
      const skill = await tool('skill_read', { path: 'SKILL.md' });
      return { calls: 2, bytes: size(JSON.stringify(tools), client.getInstructions() ?? '') + skill.bytes };
    },
    async run(_what, steps, known) {
      const [only] = steps;
      const found = await find(tool, steps, seen);
      const isOne = steps.length === 1 && only && (everydayTools as readonly string[]).includes(only.operation);
      const done = isOne ? await one(tool, only, known) : await together(tool, steps, known);
      return { calls: found.calls + done.calls, bytes: found.bytes + done.bytes };
    },
    close: () => client.close(),
  };
}

/** Finds operations that the agent has not used before, by their names. */
async function find(tool: Tool, steps: readonly Step[], seen: Set<string>): Promise<Cost> {
  const cost = { calls: 0, bytes: 0 };
  for (const { operation } of steps) {
    if (seen.has(operation)) continue;
    seen.add(operation);
    const found = await tool('find_operations', { words: operation.replace('.', ' ').replaceAll('_', ' '), limit: 1 });
    if (!found.text.includes(toolName(operation)))
      throw new Error(`find_operations does not find ${operation}: ${found.text.slice(0, 300)}`);
    cost.calls += 1;
    cost.bytes += found.bytes;
  }
  return cost;
}

async function one(tool: Tool, step: Step, known: Map<string, unknown>): Promise<Cost> {
  const answered = await tool(
    toolName(step.operation),
    inputOf(step, (given) => filled(given, known)),
  );
  const value = parse(answered.text);
  requireOutcome(step, answered.isError ? (value?.error?.code ?? 'failed') : undefined, answered.text);
  known.set(step.operation, answered.text);
  if (step.as) known.set(step.as, value ?? answered.text);
  return { calls: 1, bytes: answered.bytes };
}

async function together(tool: Tool, steps: readonly Step[], known: Map<string, unknown>): Promise<Cost> {
  const positions = new Map(steps.flatMap(({ as }, at) => (as ? [[as, at] as const] : [])));
  const calls = steps.map((step) => ({
    operation: toolName(step.operation),
    arguments: inputOf(step, (given) => placed(given, positions, known)),
  }));
  const answered = await tool(steps.every(reads) ? 'read_operations' : 'call_operations', { calls });
  const value = parse(answered.text);
  const last = steps.at(-1) as Step;
  const refusal = value?.refused?.error ?? value?.error;
  requireOutcome(last, answered.isError ? (refusal?.code ?? 'failed') : undefined, answered.text);
  const results: unknown[] = value?.results ?? value?.done ?? [];
  for (const [at, { as, operation }] of steps.entries()) {
    known.set(operation, JSON.stringify(results[at]));
    if (as) known.set(as, results[at]);
  }
  return { calls: 1, bytes: answered.bytes };
}

function inputOf({ operation, arguments: given = {} }: Step, fill: (given: Arguments) => unknown): Arguments {
  const wait = builds.test(operation) ? { wait_seconds: waitSeconds } : {};
  return { ...(fill(given) as Arguments), ...wait };
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
