/** What an operator sees of one publish, from its call to its build, over the wire and in the logs of real processes. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openReceiver, type ToldSpan } from '../stack/otlp.ts';
import { type OwnStack, startOwnStack } from '../stack/stack.ts';
import { until } from '../stack/until.ts';
import { armEdges, hold } from './kills/edges.ts';

type Line = {
  reqId?: string;
  step?: string;
  attempt?: number;
  workflowId?: string;
  resource?: string;
  traceId?: string;
  msg: string;
};

let receiver: Awaited<ReturnType<typeof openReceiver>>;
let stack: OwnStack;
let answer: Awaited<ReturnType<OwnStack['api']>>;
beforeAll(async () => {
  receiver = await openReceiver();
  const env = {
    FRONTAGE_WARM_SANDBOXES: '0',
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

test('the id that a publish is answered with is in the lines of every process, after a worker was killed too', async () => {
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
    expect.objectContaining({ reqId, msg: 'answered', operation: 'site.publish', status: 200 }),
  );
  const lines = await until(
    () => linesOf('worker', reqId),
    (some) => some.some(({ step }) => step === 'putLive'),
  );
  const workflow = { reqId, workflowId: `publish:${answer.body.id}`, resource: answer.body.id };
  for (const line of lines) expect(line).toMatchObject(workflow);
  const done = lines.filter(({ msg }) => msg === 'step done');
  for (const step of ['claimBuild', 'snapshotSource', 'buildSite', 'putLive'])
    expect(done.map((line) => line.step)).toContain(step);
  expect(done.some(({ attempt }) => attempt === 2)).toBe(true);
  expect(lines).toContainEqual(expect.objectContaining({ step: 'buildSite', msg: 'built' }));
}, 90_000);

/** From the request down: the names that lead to a span. */
function wayTo(span: ToldSpan, among: ToldSpan[]): string[] {
  const parent = among.find(({ spanId }) => spanId === span.parentSpanId);
  return [...(parent ? wayTo(parent, among) : []), span.name];
}

test('one publish is one trace, from the request over the outbox to the build, its tries before and after the kill in it', async () => {
  const reqId = answer.headers.get('x-request-id');
  const request = await until(
    () => receiver.spans.find(({ attributes }) => attributes['frontage.request_id'] === reqId),
    (span) => span !== undefined,
  );
  const ofTrace = () => receiver.spans.filter(({ traceId }) => traceId === request?.traceId);
  const spans = await until(ofTrace, (some) => some.some(({ name }) => name === 'RunWorkflow:publishSite'));
  const top = ['POST /v1/sites/:id/publish'];
  const workflow = [...top, 'outbox start', 'StartWorkflow:publishSite', 'RunWorkflow:publishSite'];
  const ways = spans.map((span) => wayTo(span, spans));
  for (const step of ['claimBuild', 'snapshotSource', 'buildSite', 'putLive'])
    expect(ways).toContainEqual([...workflow, `StartActivity:${step}`, `RunActivity:${step}`]);
  expect(ways).toContainEqual([...workflow, 'StartActivity:buildSite', 'RunActivity:buildSite', 'build']);
  for (const way of ways) expect(way[0]).toBe(top[0]);
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

test('a trace says nothing of visitors and owners, and no secret', async () => {
  const { token, email } = stack.owner;
  const all = receiver.bodies.join('\n');
  for (const word of [token, email, 'Seen', '127.0.0.1', 'seen.sites', stack.env.FRONTAGE_SECRET ?? 'FRONTAGE_SECRET'])
    expect(all).not.toContain(word);
  for (const { events, status } of receiver.spans)
    expect({ events: events ?? [], message: status.message }).toEqual({ events: [] });
});
