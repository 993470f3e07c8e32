/** An OAuth client as an owner meets it: the SDK's client, the sign-in by mail and browser, and the tools it gets. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { type Agent, agentOf, type Called } from '#test/mcp/fixture.ts';
import { underWay } from '#test/stack/following.ts';
import { until } from '#test/stack/until.ts';

export type OauthClient = {
  agent: Agent;
  tokens(): OAuthTokens | undefined;
  /** Makes its access token one that has ended; the refresh token still works. */
  spoil(): void;
  close(): Promise<void>;
};

/** Connects a program of this device by the owner's yes: `browse` is his browser, which is sent to the address and ends at the program. */
export async function connectAs(
  name: string,
  mcpUrl: string,
  browse: (address: URL) => Promise<void>,
): Promise<OauthClient> {
  const answers: URL[] = [];
  const listener = createServer((request, response) => {
    answers.push(new URL(request.url ?? '/', 'http://127.0.0.1'));
    response.end('<!doctype html><title>Back</title><p>You are back at your program.');
  });
  await new Promise<void>((ready) => void listener.listen(0, '127.0.0.1', ready));
  const held: { client?: OAuthClientInformationMixed; tokens?: OAuthTokens; verifier?: string; sentTo?: URL } = {};
  const provider = providerFor(name, listener, held);
  const open = () => new StreamableHTTPClientTransport(new URL(mcpUrl), { authProvider: provider });
  const client = new Client({ name, version: '1' });
  const first = open();
  const refused = await client.connect(first as Parameters<typeof client.connect>[0]).then(
    () => false,
    () => true,
  );
  if (!refused || !held.sentTo) throw new Error('the program was let in without its owner');
  await browse(held.sentTo);
  const [answer] = answers;
  if (!answer) throw new Error('the browser did not come back to the program');
  await first.finishAuth(answer.searchParams.get('code') ?? '');
  const again = new Client({ name, version: '1' });
  await again.connect(open() as Parameters<typeof again.connect>[0]);
  return {
    agent: patient(agentOf(again)),
    tokens: () => held.tokens,
    spoil() {
      if (held.tokens) held.tokens = { ...held.tokens, access_token: 'fro_ended' };
    },
    async close() {
      await again.close();
      listener.close();
    },
  };
}

/** As agents do where a call was answered before its work had ended, because the process that followed it was told to end: it reads how that went. */
function patient(agent: Agent): Agent {
  return {
    ...agent,
    async call(name, input = {}, onprogress) {
      const first = await agent.call(name, input, onprogress);
      const isOver = ({ body }: Called) => !underWay.includes(body?.status);
      if (isOver(first)) return first;
      const ofSlot = name.startsWith('preview_');
      const read = () =>
        ofSlot ? agent.call('preview_read', input) : agent.call('deployment_read', { id: first.body.id });
      const end = await until(read, isOver, 300_000);
      return end.body?.status === 'failed' ? { ...end, isError: true, error: end.body.error } : end;
    },
  };
}

function providerFor(
  name: string,
  listener: Server,
  held: { client?: OAuthClientInformationMixed; tokens?: OAuthTokens; verifier?: string; sentTo?: URL },
): OAuthClientProvider {
  const redirectUrl = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/callback`;
  return {
    redirectUrl,
    clientMetadata: { client_name: name, redirect_uris: [redirectUrl] },
    clientInformation: () => held.client,
    saveClientInformation(client) {
      held.client = client;
    },
    tokens: () => held.tokens,
    saveTokens(tokens) {
      held.tokens = tokens;
    },
    redirectToAuthorization(url) {
      held.sentTo = url;
    },
    saveCodeVerifier(verifier) {
      held.verifier = verifier;
    },
    codeVerifier: () => held.verifier ?? '',
  };
}
