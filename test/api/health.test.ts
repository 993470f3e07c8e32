import { afterAll, expect, test } from 'vitest';
import { callWith, createFixture } from './fixture.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());

test('an API with all its dependencies is up and ready', async () => {
  const anyone = callWith(fixture.url);
  expect((await anyone('GET', '/healthz')).body).toEqual({ status: 'up' });
  const ready = await anyone('GET', '/readyz');
  expect([ready.status, ready.body]).toEqual([
    200,
    { status: 'ready', parts: { database: 'ok', workflow_engine: 'ok', store: 'ok' } },
  ]);
});

test.each([
  ['database', { DATABASE_URL: 'postgres://nobody:secret-word@127.0.0.1:1/none' }],
  ['workflow_engine', { TEMPORAL_ADDRESS: '127.0.0.1:1' }],
])('an API without its %s is up but not ready, and names that part', async (part, env) => {
  const broken = await createFixture(env, { builders: false });
  try {
    const anyone = callWith(broken.url);
    expect((await anyone('GET', '/healthz')).status).toBe(200);
    const { status, body, text } = await anyone('GET', '/readyz');
    expect([status, body.status, body.parts]).toEqual([
      503,
      'not_ready',
      expect.objectContaining({ [part]: 'failing' }),
    ]);
    expect(text).not.toMatch(/127\.0\.0\.1|secret-word|ECONNREFUSED/);
  } finally {
    await broken.close();
  }
});
