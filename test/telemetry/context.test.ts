/** Request ids: in responses, in log lines, and in messages to the workflow engine. */
import pg from 'pg';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requestLogger, withContextFields } from '#runtime/log.ts';
import { propagatedContext, runWithContext } from '#runtime/telemetry/context.ts';
import { createFixture, type Fixture } from '#test/api/fixture.ts';

const ours = /^req_[0-9a-f]{24}$/;
const id = 'proxy-0123456789';

describe('behind a trusted proxy', () => {
  let fixture: Fixture;
  let db: pg.Pool;
  beforeAll(async () => {
    fixture = await createFixture({ FRONTAGE_TRUSTED_PROXIES: '127.0.0.1' });
    db = new pg.Pool({ connectionString: fixture.database.url, max: 1 });
  });
  afterAll(async () => {
    await db?.end();
    await fixture?.close();
  });

  const answered = async (given: string) =>
    (await fetch(`${fixture.url}/llms.txt`, { headers: { 'x-request-id': given } })).headers.get('x-request-id');

  test('a request has the id that the proxy sent, if it is well-formed', async () => {
    expect(await answered(id)).toBe(id);
    for (const odd of ['short', 'x'.repeat(65), 'a b c d e f g', '"},{"level":60', '%0a%0d%0a%0d%0a', '../../../etc'])
      expect(await answered(odd)).toMatch(ours);
  });

  test('an outbox entry has the id of the request that wrote it', async () => {
    const { call } = await fixture.newCaller();
    const site = await call('POST', '/v1/sites', { body: { name: 'caused', title: 'Caused', template: 'blank' } });
    const { status, body } = await call('POST', `/v1/sites/${site.body.id}/publish`, {
      body: { scope: 'site' },
      headers: { 'x-request-id': id, prefer: 'respond-async' },
    });
    expect(status).toBe(200);
    const { rows } = await db.query(`select message from outbox where workflow_id = $1`, [`publish:${body.id}`]);
    expect(rows.map(({ message }) => message.cause)).toEqual([{ reqId: id }]);
  });

  test('every log line of a request contains its id once', async () => {
    await answered('proxy-one-line-each');
    const own = () => fixture.logged.filter((line) => JSON.stringify(line).includes('proxy-one-line-each'));
    // It is logged after the response was sent.
    await expect
      .poll(own)
      .toEqual([expect.objectContaining({ reqId: 'proxy-one-line-each', msg: 'request completed' })]);
  });
});

test('an untrusted client cannot choose its request id', async () => {
  const fixture = await createFixture({ FRONTAGE_TRUSTED_PROXIES: '192.0.2.1' });
  try {
    const { headers } = await fetch(`${fixture.url}/llms.txt`, { headers: { 'x-request-id': id } });
    expect(headers.get('x-request-id')).toMatch(ours);
  } finally {
    await fixture.close();
  }
});

test('a workflow that an activity starts inherits the request; a signalled one does not', () => {
  const request = { reqId: 'req_1' };
  const activity = { ...request, workflowId: 'publish:dep_1', activity: 'putLive' };
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  expect(runWithContext(request, () => propagatedContext('signal'))).toEqual(request);
  expect(runWithContext({ ...request, traceparent }, () => propagatedContext('start'))).toEqual({
    ...request,
    traceparent,
  });
  expect(runWithContext(activity, () => propagatedContext('start'))).toEqual(request);
  expect(runWithContext(activity, () => propagatedContext('signal'))).toBeUndefined();
  expect(runWithContext({ workflowId: 'schedule:sweep' }, () => propagatedContext('start'))).toBeUndefined();
  expect(propagatedContext('start')).toBeUndefined();
});

test('a log line contains its context, and a request’s own logger its own id', () => {
  const lines: string[] = [];
  const log = pino({ ...withContextFields, base: null, timestamp: false }, { write: (line) => void lines.push(line) });
  const context = {
    reqId: 'req_1',
    workflowId: 'mail:mail_1',
    traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
  };
  runWithContext(context, () => log.child({ part: 'one' }).info('for it'));
  runWithContext(context, () => requestLogger(log, { reqId: 'req_2' }).info('for a request'));
  log.info('for nobody');
  expect(lines.map((line) => line.trim())).toEqual([
    `{"level":30,"part":"one","reqId":"req_1","workflowId":"mail:mail_1","traceId":"${'a'.repeat(32)}","msg":"for it"}`,
    '{"level":30,"reqId":"req_2","msg":"for a request"}',
    '{"level":30,"msg":"for nobody"}',
  ]);
});
