/** One server of the Model Context Protocol for one request: it keeps nothing, so any process can answer the next one. */
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
import { pageItems } from '#api/pages.ts';
import own from '#package.json' with { type: 'json' };
import type { Config } from '#runtime/config.ts';
import type { Deps } from '#runtime/deps.ts';
import type { SkillTree } from '#skill/tree.ts';
import { type ApiClient, type ApiResponse, type Input, isJson } from './inject.ts';
import { callOperation } from './invoke.ts';
import type { Operation } from './operations.ts';
import { follow, followed, type ProgressCallback } from './progress.ts';
import { readResource, resourcesOf } from './resources.ts';
import { failureOf, resultOf, textMax } from './results.ts';
import { offered, toolName, toolOf } from './tools.ts';

/** What is the same for all requests to a process. */
export type Served = {
  operations: readonly Operation[];
  tools: Tool[];
  skill: SkillTree;
  config: Config;
  /** Aborted when the process is to end. */
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

export function serverFor(served: Served, send: ApiClient): Server {
  const { operations, tools, skill, config, shutdown } = served;
  const server = new Server(
    { name: own.name, title: 'Frontage', version: own.version, websiteUrl: config.baseUrl },
    { capabilities: { tools: {}, resources: {} }, instructions: instructions(config.baseUrl) },
  );

  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools }));

  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { sendNotification, signal }) => {
    // One that is not offered is called all the same: the API says best why it cannot be done here.
    const operation = operations.find((one) => toolName(one) === params.name);
    if (!operation) throw new McpError(ErrorCode.InvalidParams, `The tool ${params.name.slice(0, 80)} does not exist.`);
    const progressToken = params._meta?.progressToken;
    const tell: ProgressCallback | undefined =
      progressToken === undefined
        ? undefined
        : (progress, message) =>
            sendNotification({ method: 'notifications/progress', params: { progressToken, progress, message } });
    return await run(served, send, {
      operation,
      input: params.arguments ?? {},
      tell,
      gone: AbortSignal.any([signal, shutdown]),
    });
  });

  server.setRequestHandler(ListResourcesRequestSchema, async () => ({ resources: resourcesOf(skill, config.baseUrl) }));

  server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }) => {
    const read = readResource(skill, config.baseUrl, uri);
    // The code that the protocol has for it.
    if (!read) throw new McpError(-32002, 'No resource exists at this address.', { uri });
    return read;
  });

  return server;
}

type Asked = { operation: Operation; input: Input; tell: ProgressCallback | undefined; gone: AbortSignal };

async function run(served: Served, send: ApiClient, asked: Asked): Promise<CallToolResult> {
  const { operation, input, tell } = asked;
  const { [operation.name]: how } = followed;
  const begun = await callOperation(send, operation, input, how && tell ? 0 : undefined);
  const { body } = begun;
  if (how && tell && begun.status < 400 && body) {
    const ended = await follow(send, how, { ...begun, body }, { ...asked, tell });
    // A read answers what failed; a call that had waited for it would have been the failure.
    if (ended !== begun && ended.body?.error && ended.status < 400) return failureOf(ended.body.error);
    return resultOf(operation, ended, served.config.baseUrl);
  }
  return resultOf(operation, await shortened(send, asked, begun), served.config.baseUrl);
}

/** A list whose page is too large is asked for again in a shorter one, from where it began. */
async function shortened(send: ApiClient, { operation, input }: Asked, answered: ApiResponse): Promise<ApiResponse> {
  const isList = operation.method === 'GET' && operation.inputs.some(({ name }) => name === 'limit');
  let now = answered;
  for (let limit = shorterPage(now, input.limit); isList && limit > 0; limit = shorterPage(now, limit)) {
    now = await callOperation(send, operation, { ...input, limit });
  }
  return now;
}

/** How many items of a list fit where those of the answer do not, by their size; 0 where they do, or where there are none to leave out. */
function shorterPage({ body, bytes, more, type }: ApiResponse, asked: unknown): number {
  const limit = typeof asked === 'number' ? asked : pageItems;
  // Of an answer that was not read to its end nobody knows how many it has.
  if (more && isJson({ type })) return Math.floor(limit / 8);
  const items = Array.isArray(body?.items) && 'next_cursor' in body ? body.items.length : 0;
  if (items <= 1 || bytes.length <= textMax) return 0;
  return Math.max(1, Math.min(items - 1, Math.floor((items * textMax * 0.8) / bytes.length)));
}

function instructions(baseUrl: string): string {
  return `Frontage makes and runs websites for you and your owner. Read ${baseUrl}/skill/SKILL.md first (as a resource, or with the tool skill_read): it explains how to work here.
Each tool is one API operation. A result with next_action is not finished: follow it. Errors state whether to retry and what helps; relay their message to the owner.
Get ids from the lists (site_list first). inbox_read lists your open tasks. Read sources with source_files and write them with source_commit; send larger files with upload_create or git.`;
}
