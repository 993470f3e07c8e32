/** Under which id a request goes on: into its answer, its lines, and whatever it asks of the workflow engine. */
import pg from 'pg';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { linesWithCause, logOfRequest } from '#runtime/log.ts';
import { carriedCause, doFor } from '#runtime/telemetry/context.ts';
import { createWorld, type World } from '#test/api/world.ts';

const ours = /^req_[0-9a-f]{24}$/;
const id = 'front-0123456789';

describe('behind a front that is trusted', () => {
  let world: World;
  let db: pg.Pool;
  beforeAll(async () => {
    world = await createWorld({ FRONTAGE_TRUSTED_PROXIES: '127.0.0.1' });
    db = new pg.Pool({ connectionString: world.database.url, max: 1 });
  });
  afterAll(async () => {
    await db?.end();
    await world?.close();
  });

  const answered = async (given: string) =>
    (await fetch(`${world.url}/llms.txt`, { headers: { 'x-request-id': given } })).headers.get('x-request-id');

  test('a request has the id that the front gave it, where it is an id', async () => {
    expect(await answered(id)).toBe(id);
    for (const odd of ['short', 'x'.repeat(65), 'a b c d e f g', '"},{"level":60', '%0a%0d%0a%0d%0a', '../../../etc'])
      expect(await answered(odd)).toMatch(ours);
  });

  test('an entry of the outbox has the id of the request that wrote it', async () => {
    const { call } = await world.newCaller();
    const site = await call('POST', '/v1/sites', { body: { name: 'caused', title: 'Caused', template: 'blank' } });
    const { status, body } = await call('POST', `/v1/sites/${site.body.id}/publish`, {
      body: { scope: 'site' },
      headers: { 'x-request-id': id, prefer: 'respond-async' },
    });
    expect(status).toBe(200);
    const { rows } = await db.query(`select message from outbox where workflow_id = $1`, [`publish:${body.id}`]);
    expect(rows.map(({ message }) => message.cause)).toEqual([{ reqId: id }]);
  });

  test('every line that a request writes says its id once', async () => {
    await answered('front-one-line-each');
    const own = () => world.logged.filter((line) => JSON.stringify(line).includes('front-one-line-each'));
    // It is written when the answer is out.
    await expect.poll(own).toEqual([expect.objectContaining({ reqId: 'front-one-line-each', msg: 'answered' })]);
  });
});

test('who is no trusted front does not choose its id', async () => {
  const world = await createWorld({ FRONTAGE_TRUSTED_PROXIES: '192.0.2.1' });
  const { headers } = await fetch(`${world.url}/llms.txt`, { headers: { 'x-request-id': id } });
  expect(headers.get('x-request-id')).toMatch(ours);
  await world.close();
});

test('what a step starts goes on for the same request, and whom it signals has another', () => {
  const request = { reqId: 'req_1' };
  const step = { ...request, workflowId: 'publish:dep_1', step: 'putLive' };
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  expect(doFor(request, () => carriedCause('signal'))).toEqual(request);
  expect(doFor({ ...request, traceparent }, () => carriedCause('start'))).toEqual({ ...request, traceparent });
  expect(doFor(step, () => carriedCause('start'))).toEqual(request);
  expect(doFor(step, () => carriedCause('signal'))).toBeUndefined();
  expect(doFor({ workflowId: 'schedule:sweep' }, () => carriedCause('start'))).toBeUndefined();
  expect(carriedCause('start')).toBeUndefined();
});

test('a line says what it is written for, and a request’s own log says so itself', () => {
  const lines: string[] = [];
  const log = pino({ ...linesWithCause, base: null, timestamp: false }, { write: (line) => void lines.push(line) });
  const cause = { reqId: 'req_1', workflowId: 'mail:mail_1', traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` };
  doFor(cause, () => log.child({ part: 'one' }).info('for it'));
  doFor(cause, () => logOfRequest(log, { reqId: 'req_2' }).info('for a request'));
  log.info('for nobody');
  expect(lines.map((line) => line.trim())).toEqual([
    `{"level":30,"part":"one","reqId":"req_1","workflowId":"mail:mail_1","traceId":"${'a'.repeat(32)}","msg":"for it"}`,
    '{"level":30,"reqId":"req_2","msg":"for a request"}',
    '{"level":30,"msg":"for nobody"}',
  ]);
});
