/** An operator's view of one publish, from its call to its build: logs, traces and metrics of real processes. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { armEdges, hold } from '#test/campaigns/stack/kills/edges.ts';
import { openReceiver, type ToldSpan } from '#test/stack/otlp.ts';
import { type OwnStack, startOwnStack } from '#test/stack/stack.ts';
import { until } from '#test/stack/until.ts';
import { freePort } from '#tools/local/ports.ts';

type Line = {
  reqId?: string;
  activity?: string;
  attempt?: number;
  workflowId?: string;
  resource?: string;
  traceId?: string;
  msg: string;
};

let receiver: Awaited<ReturnType<typeof openReceiver>>;
let temporalPort: number;
let stack: OwnStack;
let answer: Awaited<ReturnType<OwnStack['api']>>;
beforeAll(async () => {
  receiver = await openReceiver();
  temporalPort = await freePort();
  const env = {
    FRONTAGE_WARM_SANDBOXES: '0',
    FRONTAGE_EDGE_PROCESSES: '2',
    FRONTAGE_METRICS_PORT: '0',
    FRONTAGE_METRICS_TEMPORAL_PORT: String(temporalPort),
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=the%20key',
    OTEL_BSP_SCHEDULE_DELAY: '100',
  };
  stack = await startOwnStack({ env });
  await armEdges(stack.databaseUrl);
});
afterAll(async () => {
  await stack?.stop();
  await receiver?.close();
});

/** What a grep for the id finds in the log of a process. */
async function linesOf(name: 'api' | 'worker', id: string): Promise<Line[]> {
  const text = await readFile(join(stack.dataDir, 'logs', `${name}.log`), 'utf8');
  return text
    .split('\n')
    .filter((line) => line.includes(id))
    .map((line) => JSON.parse(line));
}

test('every process logs a publish’s request id, also after a worker was killed', async () => {
  const { body: site } = await stack.api('/v1/sites', { body: { name: 'seen', title: 'Seen', template: 'blank' } });
  const held = await hold(stack.databaseUrl, 'manifest');
  answer = await stack.api(`/v1/sites/${site.id}/publish`, {
    body: { scope: 'site' },
    headers: { prefer: 'respond-async' },
  });
  const reqId = answer.headers.get('x-request-id') ?? '';
  expect(reqId).toMatch(/^req_[0-9a-f]{24}$/);
  const deployment = async () => (await stack.api(`/v1/deployments/${answer.body.id}`)).body.status as string;
  await held.reached();
  await stack.kill('worker');
  await held.cut();
  await held.release();
  await stack.restart('worker');
  await until(deployment, (status) => status === 'live', 60_000);
  expect(await linesOf('api', reqId)).toContainEqual(
    expect.objectContaining({ reqId, msg: 'request completed', operation: 'site.publish', status: 200 }),
  );
  const lines = await until(
    () => linesOf('worker', reqId),
    (some) => some.some(({ activity }) => activity === 'putLive'),
  );
  const { id } = answer.body;
  for (const line of lines) expect(line).toMatchObject({ reqId, resource: id });
  expect(new Set([...lines.map(({ workflowId }) => workflowId), `scan:${id}`])).toEqual(
    new Set([`publish:${id}`, `scan:${id}`]),
  );
  const done = lines.filter(({ msg }) => msg === 'activity completed');
  for (const step of ['claimBuild', 'snapshotSource', 'buildSite', 'putLive'])
    expect(done.map((line) => line.activity)).toContain(step);
  expect(done.some(({ attempt }) => attempt === 2)).toBe(true);
  expect(lines).toContainEqual(expect.objectContaining({ activity: 'buildSite', msg: 'built' }));
}, 90_000);

/** From the request down: the names that lead to a span. */
function wayTo(span: ToldSpan, among: ToldSpan[]): string[] {
  const parent = among.find(({ spanId }) => spanId === span.parentSpanId);
  return [...(parent ? wayTo(parent, among) : []), span.name];
}

test('one trace shows a publish’s request, outbox, build and attempts around a kill', async () => {
  const reqId = answer.headers.get('x-request-id');
  const request = await until(
    () => receiver.spans.find(({ attributes }) => attributes['frontage.request_id'] === reqId),
    (span) => span !== undefined,
  );
  const ofTrace = () => receiver.spans.filter(({ traceId }) => traceId === request?.traceId);
  const top = ['POST /v1/sites/:id/publish'];
  // Each process exports its spans in batches: a span may arrive before its parent.
  const isConnected = (some: ToldSpan[]) => some.every((span) => wayTo(span, some)[0] === top[0]);
  const spans = await until(
    ofTrace,
    (some) => some.some(({ name }) => name === 'RunWorkflow:publishSite') && isConnected(some),
  );
  const workflow = [...top, 'outbox start', 'StartWorkflow:publishSite', 'RunWorkflow:publishSite'];
  const ways = spans.map((span) => wayTo(span, spans));
  for (const step of ['claimBuild', 'snapshotSource', 'buildSite', 'putLive'])
    expect(ways).toContainEqual([...workflow, `StartActivity:${step}`, `RunActivity:${step}`]);
  expect(ways).toContainEqual([...workflow, 'StartActivity:buildSite', 'RunActivity:buildSite', 'build']);
  expect(spans.filter(({ name }) => name === 'RunWorkflow:publishSite')).toHaveLength(1);
  expect(request).toMatchObject({ service: 'frontage-api', kind: 2, status: { code: 0 } });
  expect(request?.attributes).toEqual({
    'http.request.method': 'POST',
    'http.route': '/v1/sites/:id/publish',
    'http.response.status_code': 200,
    'frontage.operation': 'site.publish',
    'frontage.request_id': reqId,
  });
  expect(spans.find(({ name }) => name === 'build')).toMatchObject({
    service: 'frontage-worker',
    attributes: { 'frontage.deployment': answer.body.id, 'frontage.attempt': 2, 'frontage.build.outcome': 'built' },
  });
  const lines = await linesOf('worker', reqId ?? '');
  expect(new Set(lines.map(({ traceId }) => traceId))).toEqual(new Set([request?.traceId]));
  expect(receiver.requests.every(({ path, headers }) => path === '/v1/traces' && headers['x-key'] === 'the key')).toBe(
    true,
  );
});

test('traces contain no visitors, no owners, and no secrets', async () => {
  const { token, email } = stack.owner;
  const all = receiver.bodies.join('\n');
  for (const word of [token, email, 'Seen', '127.0.0.1', 'seen.sites', stack.env.FRONTAGE_SECRET ?? 'FRONTAGE_SECRET'])
    expect(all).not.toContain(word);
  for (const { events, status } of receiver.spans)
    expect({ events: events ?? [], message: status.message }).toEqual({ events: [] });
});

/** Reads the metrics of a process at the port that it logged. */
async function metricsOf(name: 'api' | 'worker' | 'edge'): Promise<string> {
  const text = await readFile(join(stack.dataDir, 'logs', `${name}.log`), 'utf8');
  const port = [...text.matchAll(/^.*"port":(\d+),.*metrics are served at/gm)].at(-1)?.[1];
  return await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
}

test('an edge counts the responses of all its processes, by kind and class', async () => {
  await until(
    async () => (await stack.visit('seen', '/')).status,
    (status) => status === 200,
  );
  const counted = async () =>
    Object.fromEntries(
      [
        ...(await metricsOf('edge')).matchAll(/^frontage_edge_responses_total\{kind="(\w+)",status="(\w+)"\} (\d+)/gm),
      ].map(([, kind, status, count]) => [`${kind} ${status}`, Number(count)]),
    );
  const before = await counted();
  for (let n = 0; n < 20; n++) await stack.visit('seen', '/');
  for (let n = 0; n < 5; n++) await stack.visit('nobody-here', '/');
  const after = await counted();
  expect((after['page 2xx'] ?? 0) - (before['page 2xx'] ?? 0)).toBe(20);
  expect((after['own 4xx'] ?? 0) - (before['own 4xx'] ?? 0)).toBe(5);
  const all = Object.values(after).reduce((sum, count) => sum + count, 0);
  const timed = /^frontage_edge_seconds_count (\d+)/m.exec(await metricsOf('edge'))?.[1];
  expect(Number(timed)).toBe(all);
});

test('every metric that a rule or a panel names is exported', async () => {
  const fromSdk = createRequire(createRequire(import.meta.url).resolve('@temporalio/worker'));
  const sdk = await readFile(fromSdk('@temporalio/core-bridge/common').getPrebuiltPath());
  const engine = await (await fetch(`http://127.0.0.1:${temporalPort}/metrics`)).text();
  const texts = [...(await Promise.all((['api', 'worker', 'edge'] as const).map(metricsOf))), engine];
  const told = new Set(texts.flatMap((text) => [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name)));
  const files = await Promise.all(
    ['alerts.yml', 'grafana.json'].map((file) =>
      readFile(join(import.meta.dirname, '../../operator/monitoring', file), 'utf8'),
    ),
  );
  const named = files.flatMap((text) => text.match(/\b(frontage|nodejs|process|temporal)_\w+/g) ?? []);
  expect(named.length).toBeGreaterThan(30);
  // A certificate is in test/telemetry/metrics; and what the engine's SDK counts when something fails it names, and has not counted here.
  const untold = named.filter((name) => !told.has(name) && !told.has(name.replace(/_(count|bucket|sum)$/, '')));
  const rare = untold.filter((name) => !sdk.includes(name.replace('temporal_', '')));
  expect(new Set(rare)).toEqual(new Set(['frontage_certificate_days_left']));
});
