/** A database that disappears silently: running queries fail, and later ones use new connections. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { statementMs } from '#db/connections.ts';
import { type EntityManager, type MikroORM, openOrm } from '#db/orm.ts';
import { createFixture, type Fixture } from '#test/api/fixture.ts';
import { openSilentProxy } from '#test/stack/silent-proxy.ts';
import { until } from '#test/stack/until.ts';

const statementTimeoutMs = 1_000;
const poolMax = 3;

let fixture: Fixture;
let proxy: Awaited<ReturnType<typeof openSilentProxy>>;
let orm: MikroORM;
beforeAll(async () => {
  fixture = await createFixture();
  proxy = await openSilentProxy(fixture.database.url);
  orm = openOrm(proxy.url, { poolMax, statementTimeoutMs });
});
afterAll(async () => {
  await orm?.close();
  await proxy?.close();
  await fixture?.close();
});

const ask = (question = 'select 1 as one') => orm.em.fork().execute(question);
const asked = () =>
  ask().then(
    () => true,
    () => false,
  );

test('a pool whose connections all fell silent recovers without a restart', async () => {
  await Promise.all(Array.from({ length: poolMax }, () => ask('select pg_sleep(0.2)')));
  expect(proxy.silence('both')).toBe(poolMax);
  const lost = await Promise.allSettled(Array.from({ length: poolMax }, () => ask()));
  expect(lost.map(({ status }) => status)).toEqual(Array(poolMax).fill('rejected'));
  expect(await until(asked, (works) => works, 10 * statementTimeoutMs)).toBe(true);
});

test('a transaction on a silent connection fails, and the next succeeds', async () => {
  const under = orm.em.fork().transactional(async (tx) => {
    await tx.execute('select 1');
    proxy.silence('both');
    await tx.execute('select 2');
  });
  await expect(under).rejects.toThrow();
  await until(asked, (works) => works, 10 * statementTimeoutMs);
});

test('a transaction whose connection was lost frees its place in the pool', async () => {
  const lose = (em: EntityManager) => em.execute('select pg_terminate_backend(pg_backend_pid())');
  for (let times = 0; times < 2 * poolMax; times += 1)
    await expect(orm.em.fork().transactional(lose)).rejects.toThrow('terminating connection');
  expect(await Promise.all(Array.from({ length: 2 * poolMax }, asked))).toEqual(Array(2 * poolMax).fill(true));
});

test('an idle connection is not mistaken for a silent one', async () => {
  const pid = async () => (await ask('select pg_backend_pid() as pid'))[0]?.pid;
  const before = await pid();
  await fixture.deps.em().execute('select pg_sleep(?)', [(1.5 * statementTimeoutMs) / 1000]);
  expect(await pid()).toBe(before);
});

test('the server cancels a slow statement, and its connection stays usable', async () => {
  await expect(ask('select pg_sleep(30)')).rejects.toThrow('statement timeout');
  expect(await asked()).toBe(true);
});

test('calls and activities have this time limit, and migrations have none', async () => {
  const patience = async (of: MikroORM) => (await of.em.fork().execute('show statement_timeout'))[0]?.statement_timeout;
  expect(await patience(fixture.deps.orm)).toBe(`${(0.9 * statementMs) / 1000}s`);
  const migrating = openOrm(fixture.database.url, { poolMax: 1, lockTimeoutMs: 3_000 });
  onTestFinished(() => migrating.close());
  expect(await patience(migrating)).toBe('0');
});
