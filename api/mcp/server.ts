/** An MCP server for one request. It is stateless, so any process can handle the next request. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  type WebStandardStreamableHTTPServerTransportOptions as TransportOptions,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
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
import type { Actor } from '#api/access.ts';
import type { ApiClient, Input } from '#api/operations/inject.ts';
import type { Operation } from '#api/operations/operations.ts';
import own from '#package.json' with { type: 'json' };
import { toolName } from '#rules/calls/calls.ts';
import type { Scope } from '#rules/scopes.ts';
import type { Config } from '#runtime/config.ts';
import type { Deps } from '#runtime/deps.ts';
import type { SkillTree } from '#skill/tree.ts';
import { readBatch } from './batches.ts';
import { type Calling, callAll, callOne } from './calling.ts';
import { findOperations } from './finding.ts';
import { readResource, resourcesOf } from './resources.ts';
import { failureOf, withRequestId } from './results.ts';
import { isWithin, unlistedFor } from './scope.ts';
import { siteNames } from './site-names.ts';
import { caller, finder, isEveryday, offered, reader, toolsFor, withUnlisted } from './tools.ts';

/** Shared by all requests of a process. */
export type Served = {
  operations: readonly Operation[];
  /** Those whose capability is enabled. */
  offers: readonly Operation[];
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
  const offers = offered(operations, config);
  return { config, skill, operations, offers, tools: toolsFor(offers), shutdown: shutdown.signal };
}

export const newTransport = (options: TransportOptions) => new WebStandardStreamableHTTPServerTransport(options);

/** The request that the server responds to. */
export type Asked = { send: ApiClient; actor: Pick<Actor, 'scope'>; requestId: string };

export function serverFor(served: Served, { send, actor, requestId }: Asked): Server {
  const { tools, offers, skill, config, shutdown } = served;
  const unlisted = () => unlistedFor(offers, actor.scope, config);
  const server = new Server(
    { name: own.name, title: 'Frontage', version: own.version, websiteUrl: config.baseUrl },
    { capabilities: { tools: {}, resources: {} }, instructions: instructions(config.baseUrl) },
  );

  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: withUnlisted(tools, unlisted()) }));

  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { sendNotification, signal }) => {
    const progressToken = params._meta?.progressToken;
    const tell =
      progressToken === undefined
        ? undefined
        : (progress: number, message: string) =>
            sendNotification({ method: 'notifications/progress', params: { progressToken, progress, message } });
    const calling = { send, tell, gone: AbortSignal.any([signal, shutdown]), withIds: siteNames(send), config };
    const asked = { name: params.name, input: params.arguments ?? {} };
    const result = await run(served, { scope: actor.scope, unlisted }, calling, asked);
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

async function run(
  { operations, offers }: Served,
  { scope, unlisted }: { scope: Scope; unlisted(): string | null },
  calling: Calling,
  { name, input }: { name: string; input: Input },
): Promise<CallToolResult> {
  if (name === finder)
    return findOperations(
      offers.filter((one) => isWithin(scope, one)),
      input,
      unlisted(),
    );
  if (name === reader || name === caller) {
    const batch = readBatch(operations, input, { readsOnly: name === reader });
    return 'refusal' in batch ? failureOf(batch.refusal.toBody()) : await callAll(calling, batch.steps);
  }
  // A tool that is not listed because it is off can be called: the API's error explains why it is unavailable.
  const operation = operations.find((one) => isEveryday(one) && toolName(one.name) === name);
  if (operation) return await callOne(calling, { operation, input });
  const shown = name.slice(0, 80);
  throw new McpError(ErrorCode.InvalidParams, `There is no tool ${shown}. Find operations with ${finder}.`);
}

function instructions(baseUrl: string): string {
  return `With Frontage, you and your owner make and run websites. Read SKILL.md first (skill_read, or ${baseUrl}/skill/SKILL.md): it explains how to work here. inbox_read lists your open tasks.
The tools are for everyday work. Everything else (forms, bookings, free times, payments, domains, photos, tokens, export …) is found with find_operations and called with read_operations or call_operations.
An id begins with its kind: site_…, dep_… (a version), form_…, thread_…. Where a site is wanted, its name works too.
A result with next_action is not final: do what it says. Errors state whether to retry and what to do next; relay their messages to the owner.
Long results come in parts: offset continues, limit is the size in bytes (or the items of a list, which continues with cursor). wait_seconds is how long to wait for work to finish. idempotency_key, a value of your choice, makes it safe to repeat a call that creates something.`;
}
