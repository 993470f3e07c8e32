/** The SDK's own client, connected over the wire with a token. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult, Progress, Tool } from '@modelcontextprotocol/sdk/types.js';

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

/** What a test does with a client that is connected. */
export function agentOf(client: Client) {
  return {
    client,
    tools: async (): Promise<Tool[]> => (await client.listTools()).tools,
    /** Calls a tool. `body` is what it answers, `error` what it refuses with; the client holds answers against their schemas. */
    async call(name: string, input: Json = {}, onprogress?: (progress: Progress) => void): Promise<Called> {
      const options = { timeout: 120_000, ...(onprogress ? { onprogress, resetTimeoutOnProgress: true } : {}) };
      const result = (await client.callTool({ name, arguments: input }, undefined, options)) as CallToolResult;
      const [first] = result.content;
      const text = first?.type === 'text' ? first.text : '';
      const read = /^\{.*\}$/s.test(text) ? JSON.parse(text) : undefined;
      return { ...result, body: result.isError ? undefined : read, error: result.isError ? read?.error : undefined };
    },
    close: () => client.close(),
  };
}
