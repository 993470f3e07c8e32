/** Traces under attack: whatever the receiver does, nothing waits for it, nothing grows, and nothing is told that is not ours to tell. */
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { trace } from '@opentelemetry/api';
import pino from 'pino';
import { afterEach, expect, test } from 'vitest';
import { readConfig } from '#runtime/config.ts';
import { heldMax } from '#runtime/telemetry/exporter.ts';
import { collectProcessMetrics, renderMetrics } from '#runtime/telemetry/prometheus.ts';
import { during, tracing } from '#runtime/telemetry/spans.ts';
import { startTracing } from '#runtime/telemetry/tracing.ts';
import { openReceiver } from '#test/stack/otlp.ts';
import { until } from '#test/stack/until.ts';

collectProcessMetrics();
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Tells what this process does to the receiver, which has 300 ms to take a batch. */
function begin(url: string, more: Record<string, string> = {}) {
  const lines: { msg: string; reason?: string }[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const { tracing: receiver } = readConfig({
    FRONTAGE_SECRET: 'x'.repeat(32),
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_TIMEOUT: '300',
    OTEL_BSP_SCHEDULE_DELAY: '10',
    ...more,
  });
  if (!receiver) throw new Error('no receiver is configured');
  const tracing = startTracing({ tracing: receiver, process: 'test', log });
  closing.push(tracing.close);
  return { lines, ...tracing };
}

async function open(answer?: (response: ServerResponse) => void) {
  const receiver = await openReceiver(answer);
  closing.push(receiver.close);
  return receiver;
}

async function counted(outcome: 'told' | 'lost'): Promise<number> {
  const line = new RegExp(`^frontage_spans_total\\{outcome="${outcome}"\\} (\\d+)`, 'm');
  return Number(line.exec(await renderMetrics())?.[1] ?? 0);
}

const spans = async (count: number) => {
  for (let n = 0; n < count; n++) await during('work', async () => {});
};

test('a receiver that takes and never answers keeps nobody waiting, and no more than so many spans are held', async () => {
  const receiver = await open(() => {});
  const { processor } = begin(receiver.url);
  const lost = await counted('lost');
  const began = performance.now();
  await spans(4 * heldMax);
  // Ended in the time that as many take where nobody is told: not one of them waited for the 300 ms of a batch.
  expect(performance.now() - began).toBeLessThan(4 * heldMax);
  expect((await counted('lost')) - lost).toBeGreaterThanOrEqual(3 * heldMax - 1024);
  await processor.forceFlush();
  expect((await counted('lost')) - lost).toBe(4 * heldMax);
});

test('one that answers without an end has its seconds, and no more of it is read than its status', async () => {
  let written = 0;
  const receiver = await open((response) => {
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536))) written += 65_536;
    };
    response.on('drain', more).on('error', () => {});
    more();
  });
  begin(receiver.url);
  const told = await counted('told');
  await spans(10);
  await until(
    () => counted('told'),
    (count) => count === told + 10,
  );
  const before = written;
  await pause(50);
  expect(written).toBe(before);
  expect(written).toBeLessThan(16 * 1024 * 1024);
});

test('one that is gone is a line in the log, its return another, and neither says its key', async () => {
  let refuses = true;
  const receiver = await open((response) => response.writeHead(refuses ? 503 : 200).end('the key is hunter2'));
  const { lines, processor } = begin(`${receiver.url}/hunter2`, { OTEL_EXPORTER_OTLP_HEADERS: 'x-key=hunter2' });
  for (let round = 0; round < 3; round++) {
    await spans(3);
    await processor.forceFlush();
  }
  refuses = false;
  await spans(3);
  await processor.forceFlush();
  await receiver.close();
  closing.splice(0, 1);
  await spans(3);
  await processor.forceFlush();
  expect(lines.map(({ msg, reason }) => [msg, reason])).toEqual([
    ['traces cannot be told: what is not taken is lost', 'the receiver answers 503'],
    ['traces are told again', undefined],
    [
      'traces cannot be told: what is not taken is lost',
      expect.stringMatching(/^(ECONNREFUSED|ECONNRESET|UND_ERR_SOCKET)$/),
    ],
  ]);
  expect(JSON.stringify(lines)).not.toContain('hunter2');
  expect(receiver.requests[0]?.headers['x-key']).toBe('hunter2');
});

test('one that sends us elsewhere is not followed', async () => {
  const elsewhere = await open();
  const receiver = await open((response) => response.writeHead(307, { location: elsewhere.url }).end());
  const { processor } = begin(receiver.url, { OTEL_EXPORTER_OTLP_HEADERS: 'x-key=hunter2' });
  await spans(1);
  await processor.forceFlush();
  expect([receiver.requests.length, elsewhere.requests.length]).toEqual([1, 0]);
});

test('a process ends within seconds of a receiver that is silent', async () => {
  const receiver = await open(() => {});
  const { close } = begin(receiver.url, { OTEL_EXPORTER_OTLP_TIMEOUT: '60000' });
  await spans(heldMax);
  const began = performance.now();
  await close();
  closing.pop();
  expect(performance.now() - began).toBeLessThan(10_000);
}, 15_000);

test('words of errors and attributes that are not known to be harmless are not told', async () => {
  const receiver = await open();
  const { processor } = begin(receiver.url);
  const odd = 'visitor@example.test';
  const failing = during('build', async (note) => {
    note({ 'frontage.build.outcome': 'build_failed', 'client.address': odd, 'url.full': odd, siteTitle: odd });
    throw Object.assign(new Error(odd), { code: odd });
  });
  await expect(failing).rejects.toThrow(odd);
  const other = trace.getTracer('another package').startSpan('work');
  other.recordException(new TypeError(odd));
  other.setStatus({ code: 2, message: odd });
  other.end();
  await processor.forceFlush();
  expect(receiver.bodies.join()).not.toContain(odd);
  expect(receiver.spans.map(({ name, attributes, status }) => ({ name, attributes, status }))).toEqual([
    { name: 'build', attributes: { 'frontage.build.outcome': 'build_failed' }, status: { code: 2 } },
    { name: 'work', attributes: { 'error.type': 'TypeError' }, status: { code: 2 } },
  ]);
});

test('a trace that a front began goes on, and whom it does not sample is not told', async () => {
  const receiver = await open();
  const { processor } = begin(receiver.url);
  const [traceId, spanId] = ['a'.repeat(32), 'b'.repeat(16)];
  for (const flags of ['01', '00'])
    tracing()
      ?.begin(`with ${flags}`, { kind: 'server', parent: `00-${traceId}-${spanId}-${flags}` })
      .end();
  await processor.forceFlush();
  expect(receiver.spans.map(({ name, traceId, parentSpanId }) => ({ name, traceId, parentSpanId }))).toEqual([
    { name: 'with 01', traceId, parentSpanId: spanId },
  ]);
});

test('variables of OpenTelemetry are read as it has them, and a fault in them says nothing of what they hold', () => {
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
  expect(broken).toThrow('OTEL_EXPORTER_OTLP_HEADERS: is not name=value');
  expect(broken).not.toThrow('hunter2');
  expect(() => readConfig({ ...base, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).toThrow('OTEL_EXPORTER_OTLP_PROTOCOL');
});
