/** An MCP server for one request. It is stateless, so any process can handle the next request. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { type ApiClient, type ApiResponse, type Input, isJson } from '#api/operations/inject.ts';
import { callOperation } from '#api/operations/invoke.ts';
import type { Operation } from '#api/operations/operations.ts';
import { follow, followed, type ProgressCallback } from '#api/operations/progress.ts';
import { pageItems } from '#api/pagination.ts';
import own from '#package.json' with { type: 'json' };
import type { Config } from '#runtime/config.ts';
import type { Deps } from '#runtime/deps.ts';
import type { SkillTree } from '#skill/tree.ts';
import { readResource, resourcesOf } from './resources.ts';
import { failureOf, resultOf, textMax, withRequestId } from './results.ts';
import { offered, toolName, toolOf } from './tools.ts';

/** Shared by all requests of a process. */
export type Served = {
  operations: readonly Operation[];
  tools: Tool[];
  skill: SkillTree;
  config: Config;
  /** Aborted when the process shuts down. */
  shutdown: AbortSignal;
};

export function servedBy(
  { config, shutdown }: Pick<Deps, 'config' | 'shutdown'>,
  skill: SkillTree,
  operations: readonly Operation[],
): Served {
  const tools = offered(operations, config).map(toolOf);
  return { config, skill, operations, tools, shutdown: shutdown.signal };
}

export function serverFor(served: Served, send: ApiClient, requestId: string): Server {
  const { operations, tools, skill, config, shutdown } = served;
  const server = new Server(
    { name: own.name, title: 'Frontage', version: own.version, websiteUrl: config.baseUrl },
    { capabilities: { tools: {}, resources: {} }, instructions: instructions(config.baseUrl) },
  );

  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools }));

  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { sendNotification, signal }) => {
    // Tools that are not listed can be called too: the API's error explains why they are unavailable.
    const operation = operations.find((one) => toolName(one) === params.name);
    if (!operation) throw new McpError(ErrorCode.InvalidParams, `The tool ${params.name.slice(0, 80)} does not exist.`);
    const progressToken = params._meta?.progressToken;
    const tell: ProgressCallback | undefined =
      progressToken === undefined
        ? undefined
        : (progress, message) =>
            sendNotification({ method: 'notifications/progress', params: { progressToken, progress, message } });
    const result = await run(served, send, {
      operation,
      input: params.arguments ?? {},
      tell,
      gone: AbortSignal.any([signal, shutdown]),
    });
    return withRequestId(result, requestId);
  });

  server.setRequestHandler(ListResourcesRequestSchema, async () => ({ resources: resourcesOf(skill, config.baseUrl) }));

  server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }) => {
    const read = readResource(skill, config.baseUrl, uri);
    // The protocol's error code for an unknown resource.
    if (!read) throw new McpError(-32002, 'There is no resource with this URI.', { uri });
    return read;
  });

  return server;
}

type ToolCall = { operation: Operation; input: Input; tell: ProgressCallback | undefined; gone: AbortSignal };

async function run(served: Served, send: ApiClient, asked: ToolCall): Promise<CallToolResult> {
  const { operation, input, tell } = asked;
  const { [operation.name]: how } = followed;
  const begun = await callOperation(send, operation, input, how && tell ? 0 : undefined);
  const { body } = begun;
  if (how && tell && begun.status < 400 && body) {
    const ended = await follow(send, how, { ...begun, body }, { ...asked, tell });
    // The work failed, though the request that read its state succeeded.
    if (ended !== begun && ended.body?.error && ended.status < 400) return failureOf(ended.body.error);
    return resultOf(operation, ended, served.config.baseUrl);
  }
  return resultOf(operation, await shortened(send, asked, begun), served.config.baseUrl);
}

/** If a page of a list is too large, requests a shorter one with the same start. */
async function shortened(send: ApiClient, { operation, input }: ToolCall, answered: ApiResponse): Promise<ApiResponse> {
  const isList = operation.method === 'GET' && operation.inputs.some(({ name }) => name === 'limit');
  let now = answered;
  for (let limit = shorterPage(now, input.limit); isList && limit > 0; limit = shorterPage(now, limit)) {
    now = await callOperation(send, operation, { ...input, limit });
  }
  return now;
}

/** How many items fit if the response is too large, by their average size; 0 if it fits or has too few items. */
function shorterPage({ body, bytes, more, type }: ApiResponse, asked: unknown): number {
  const limit = typeof asked === 'number' ? asked : pageItems;
  // A truncated response has an unknown number of items.
  if (more && isJson({ type })) return Math.floor(limit / 8);
  const items = Array.isArray(body?.items) && 'next_cursor' in body ? body.items.length : 0;
  if (items <= 1 || bytes.length <= textMax) return 0;
  return Math.max(1, Math.min(items - 1, Math.floor((items * textMax * 0.8) / bytes.length)));
}

function instructions(baseUrl: string): string {
  return `With Frontage, you and your owner make and run websites. Read ${baseUrl}/skill/SKILL.md first (as a resource, or with the tool skill_read): it explains how to work here.
Each tool calls one API operation. A result with next_action is not final: do what it says. Errors state whether to retry and what to do next; relay their messages to the owner.
Get ids from the list tools (start with site_list). inbox_read lists your open tasks. Read sources with source_files and write them with source_commit; send larger files with upload_create or git.`;
}
