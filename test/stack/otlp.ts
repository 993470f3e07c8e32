/** A trace collector: accepts OTLP over HTTP as JSON (opentelemetry-proto, `ExportTraceServiceRequest`) and stores it. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

type Value = { stringValue?: string; intValue?: number; boolValue?: boolean };
type Pair = { key: string; value: Value };
type Told = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Pair[];
  events?: unknown[];
  status: { code?: number; message?: string };
};
type Request = { resourceSpans: { resource: { attributes: Pair[] }; scopeSpans: { spans: Told[] }[] }[] };

export type ToldSpan = Omit<Told, 'attributes'> & { service: string; attributes: Record<string, unknown> };

/** `answer` says what becomes of a request that was read; by default it is taken. */
export async function openReceiver(answer: (response: ServerResponse) => void = (response) => response.end('{}')) {
  const spans: ToldSpan[] = [];
  const bodies: string[] = [];
  const requests: { path: string; headers: Record<string, unknown> }[] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    requests.push({ path: request.url ?? '', headers: request.headers });
    bodies.push(body);
    for (const { resource, scopeSpans } of (JSON.parse(body) as Request).resourceSpans) {
      const service = String(asRecord(resource.attributes)['service.name']);
      for (const span of scopeSpans.flatMap((scope) => scope.spans))
        spans.push({ ...span, service, attributes: asRecord(span.attributes) });
    }
    answer(response.setHeader('content-type', 'application/json'));
  };
  const server = createServer((request, response) => void receive(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    requests,
    async close(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function asRecord(pairs: Pair[]): Record<string, unknown> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]));
}
