/** Traces and a hostile collector: nothing waits for it, memory stays bounded, and nothing private is exported. */
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { trace } from '@opentelemetry/api';
import pino from 'pino';
import { afterEach, expect, test } from 'vitest';
import { readConfig } from '#runtime/config.ts';
import { heldSpansMax } from '#runtime/telemetry/exporter.ts';
import { collectProcessMetrics, renderMetrics } from '#runtime/telemetry/prometheus.ts';
import { tracing, withSpan } from '#runtime/telemetry/spans.ts';
import { startTracing } from '#runtime/telemetry/tracing.ts';
import { openReceiver } from '#test/stack/otlp.ts';
import { until } from '#test/stack/until.ts';

collectProcessMetrics();
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Exports this process's spans to the collector, which has 300 ms for a batch. */
function begin(url: string, more: Record<string, string> = {}) {
  const lines: { msg: string; reason?: string }[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const { tracing: collector } = readConfig({
    FRONTAGE_SECRET: 'x'.repeat(32),
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_TIMEOUT: '300',
    OTEL_BSP_SCHEDULE_DELAY: '10',
    ...more,
  });
  if (!collector) throw new Error('no collector is configured');
  const tracing = startTracing({ tracing: collector, process: 'test', log });
  closing.push(tracing.close);
  return { lines, ...tracing };
}

async function open(answer?: (response: ServerResponse) => void) {
  const collector = await openReceiver(answer);
  closing.push(collector.close);
  return collector;
}

async function counted(outcome: 'exported' | 'dropped'): Promise<number> {
  const line = new RegExp(`^frontage_spans_total\\{outcome="${outcome}"\\} (\\d+)`, 'm');
  return Number(line.exec(await renderMetrics())?.[1] ?? 0);
}

const spans = async (count: number) => {
  for (let n = 0; n < count; n++) await withSpan('work', async () => {});
};

test('a collector that never responds blocks nothing, and held spans are bounded', async () => {
  const collector = await open(() => {});
  const { processor } = begin(collector.url);
  const dropped = await counted('dropped');
  const began = performance.now();
  await spans(4 * heldSpansMax);
  // As fast as without traces: no span waited for the 300 ms of a batch.
  expect(performance.now() - began).toBeLessThan(4 * heldSpansMax);
  expect((await counted('dropped')) - dropped).toBeGreaterThanOrEqual(3 * heldSpansMax - 1024);
  await processor.forceFlush();
  expect((await counted('dropped')) - dropped).toBe(4 * heldSpansMax);
});

test('an endless response is cut off after its status', async () => {
  let written = 0;
  const collector = await open((response) => {
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536))) written += 65_536;
    };
    response.on('drain', more).on('error', () => {});
    more();
  });
  begin(collector.url);
  const exported = await counted('exported');
  await spans(10);
  await until(
    () => counted('exported'),
    (count) => count === exported + 10,
  );
  const before = written;
  await pause(50);
  expect(written).toBe(before);
  expect(written).toBeLessThan(16 * 1024 * 1024);
});

test('an outage is one log line, its end another, and neither contains the key', async () => {
  let refuses = true;
  const collector = await open((response) => response.writeHead(refuses ? 503 : 200).end('the key is hunter2'));
  const { lines, processor } = begin(`${collector.url}/hunter2`, { OTEL_EXPORTER_OTLP_HEADERS: 'x-key=hunter2' });
  for (let round = 0; round < 3; round++) {
    await spans(3);
    await processor.forceFlush();
  }
  refuses = false;
  await spans(3);
  await processor.forceFlush();
  await collector.close();
  closing.splice(0, 1);
  await spans(3);
  await processor.forceFlush();
  expect(lines.map(({ msg, reason }) => [msg, reason])).toEqual([
    ['traces cannot be exported: spans are dropped', 'the collector returned 503'],
    ['traces are being exported again', undefined],
    [
      'traces cannot be exported: spans are dropped',
      expect.stringMatching(/^(ECONNREFUSED|ECONNRESET|UND_ERR_SOCKET)$/),
    ],
  ]);
  expect(JSON.stringify(lines)).not.toContain('hunter2');
  expect(collector.requests[0]?.headers['x-key']).toBe('hunter2');
});

test('a redirect is not followed', async () => {
  const elsewhere = await open();
  const collector = await open((response) => response.writeHead(307, { location: elsewhere.url }).end());
  const { processor } = begin(collector.url, { OTEL_EXPORTER_OTLP_HEADERS: 'x-key=hunter2' });
  await spans(1);
  await processor.forceFlush();
  expect([collector.requests.length, elsewhere.requests.length]).toEqual([1, 0]);
});

test('a process ends within seconds although the collector is silent', async () => {
  const collector = await open(() => {});
  const { close } = begin(collector.url, { OTEL_EXPORTER_OTLP_TIMEOUT: '60000' });
  await spans(heldSpansMax);
  const began = performance.now();
  await close();
  closing.pop();
  expect(performance.now() - began).toBeLessThan(10_000);
}, 15_000);

test('error messages and unknown attributes are not exported', async () => {
  const collector = await open();
  const { processor } = begin(collector.url);
  const odd = 'visitor@example.test';
  const failing = withSpan('build', async (note) => {
    note({ 'frontage.build.outcome': 'build_failed', 'client.address': odd, 'url.full': odd, siteTitle: odd });
    throw Object.assign(new Error(odd), { code: odd });
  });
  await expect(failing).rejects.toThrow(odd);
  const other = trace.getTracer('another package').startSpan('work');
  other.recordException(new TypeError(odd));
  other.setStatus({ code: 2, message: odd });
  other.end();
  await processor.forceFlush();
  expect(collector.bodies.join()).not.toContain(odd);
  expect(collector.spans.map(({ name, attributes, status }) => ({ name, attributes, status }))).toEqual([
    { name: 'build', attributes: { 'frontage.build.outcome': 'build_failed' }, status: { code: 2 } },
    { name: 'work', attributes: { 'error.type': 'TypeError' }, status: { code: 2 } },
  ]);
});

test('a proxy’s trace is continued, and unsampled spans are not exported', async () => {
  const collector = await open();
  const { processor } = begin(collector.url);
  const [traceId, spanId] = ['a'.repeat(32), 'b'.repeat(16)];
  for (const flags of ['01', '00'])
    tracing()
      ?.start(`with ${flags}`, { kind: 'server', parent: `00-${traceId}-${spanId}-${flags}` })
      .end();
  await processor.forceFlush();
  expect(collector.spans.map(({ name, traceId, parentSpanId }) => ({ name, traceId, parentSpanId }))).toEqual([
    { name: 'with 01', traceId, parentSpanId: spanId },
  ]);
});

test('OpenTelemetry’s variables are read as specified, and errors do not reveal their values', () => {
  const secret = { FRONTAGE_SECRET: 'x'.repeat(32) };
  const base = { ...secret, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/base/' };
  expect(readConfig(secret).tracing).toBeUndefined();
  expect(readConfig({ ...base, OTEL_SDK_DISABLED: 'true' }).tracing).toBeUndefined();
  expect(readConfig(base).tracing?.url).toBe('http://collector:4318/base/v1/traces');
  const own = { ...base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces:4318/in' };
  expect(readConfig(own).tracing?.url).toBe('http://traces:4318/in');
  const headers = readConfig({ ...base, OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20a%3D,b=c=d' }).tracing
    ?.headers;
  expect(headers).toEqual({ authorization: 'Basic a=', b: 'c=d' });
  const broken = () => readConfig({ ...base, OTEL_EXPORTER_OTLP_HEADERS: 'hunter2' });
  expect(broken).toThrow('OTEL_EXPORTER_OTLP_HEADERS: must have the form name=value');
  expect(broken).not.toThrow('hunter2');
  expect(() => readConfig({ ...base, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).toThrow('OTEL_EXPORTER_OTLP_PROTOCOL');
});
