/** The SDK's own client, connected over the wire with a token. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult, Progress, Tool } from '@modelcontextprotocol/sdk/types.js';
import { everydayTools, toolName } from '#rules/calls/calls.ts';
import { operations } from '#rules/calls/operations.ts';

// biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer is what it asserts.
type Json = any;
export type Called = CallToolResult & { body: Json; error: Json };
export type Agent = ReturnType<typeof agentOf>;

export async function connect(baseUrl: string, token: string): Promise<Agent> {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', baseUrl), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return agentOf(client);
}

const byTool = new Map(Object.entries(operations).map(([name, words]) => [toolName(name), { name, words }]));

/** The tool through which an operation without a tool of its own is called. */
export function callerOf(tool: string): 'read_operations' | 'call_operations' | undefined {
  const { name, words } = byTool.get(tool) ?? {};
  if (!name || !words || (everydayTools as readonly string[]).includes(name)) return undefined;
  return words.startsWith('GET ') ? 'read_operations' : 'call_operations';
}

function jsonOf([first]: CallToolResult['content']): Json {
  const text = first?.type === 'text' ? first.text : '';
  return /^\{.*\}$/s.test(text) ? JSON.parse(text) : undefined;
}

/** What a test does with a client that is connected. */
export function agentOf(client: Client) {
  return {
    client,
    tools: async (): Promise<Tool[]> => (await client.listTools()).tools,
    /**
     * Calls a tool, or the operation of this name through the tool that calls it. `body` is what it answers, `error`
     * what it refuses with.
     */
    async call(name: string, input: Json = {}, onprogress?: (progress: Progress) => void): Promise<Called> {
      const options = { timeout: 120_000, ...(onprogress ? { onprogress, resetTimeoutOnProgress: true } : {}) };
      const through = callerOf(name);
      const asked = through
        ? { name: through, arguments: { calls: [{ operation: name, arguments: input }] } }
        : { name, arguments: input };
      const result = (await client.callTool(asked, undefined, options)) as CallToolResult;
      const read = jsonOf(result.content);
      if (!through)
        return { ...result, body: result.isError ? undefined : read, error: result.isError ? read?.error : undefined };
      const [, ...blocks] = result.content;
      const [value] = read?.results ?? [];
      if (result.isError) return { ...result, body: undefined, error: read?.refused?.error ?? read?.error };
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      const own = value === 'See the picture.' ? [] : [{ type: 'text' as const, text }];
      return {
        ...result,
        content: [...own, ...blocks],
        body: typeof value === 'string' ? undefined : value,
        error: undefined,
      };
    },
    close: () => client.close(),
  };
}
