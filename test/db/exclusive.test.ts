/** Advisory locks of a session: one holder at a time over all processes, and none outlives its connection. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type AdvisoryLocks, openAdvisoryLocks } from '#db/advisory-lock.ts';
import { createFixture, type Fixture } from '#test/api/fixture.ts';
import { openSilentProxy } from '#test/stack/silent-proxy.ts';
import { until } from '#test/stack/until.ts';

let fixture: Fixture;
let one: AdvisoryLocks;
let other: AdvisoryLocks;
beforeAll(async () => {
  fixture = await createFixture();
  one = openAdvisoryLocks(fixture.database.url, fixture.deps.log);
  other = openAdvisoryLocks(fixture.database.url, fixture.deps.log);
});
afterAll(async () => {
  await one.close();
  await other.close();
  await fixture.close();
});

const now = async () => 'done';
const busy = { busy: true };

/** Begins what ends when it is told to. */
async function begin(where: AdvisoryLocks, key: string) {
  const work = Promise.withResolvers<string>();
  const begun = Promise.withResolvers<void>();
  const ended = where.run(key, () => {
    begun.resolve();
    return work.promise;
  });
  await begun.promise;
  return { ...work, ended };
}

test('one holder at a time has a lock, in one process or several', async () => {
  const first = await begin(one, 'a');
  expect(await one.run('a', now)).toEqual(busy);
  expect(await other.run('a', now)).toEqual(busy);
  expect(await other.run('b', now)).toEqual({ busy: false, value: 'done' });
  first.resolve('first');
  expect(await first.ended).toEqual({ busy: false, value: 'first' });
  expect(await other.run('a', now)).toEqual({ busy: false, value: 'done' });
});

test('a failure releases the lock, and is thrown', async () => {
  const first = await begin(one, 'c');
  first.reject(new Error('broke'));
  await expect(first.ended).rejects.toThrow('broke');
  expect(await other.run('c', now)).toEqual({ busy: false, value: 'done' });
});

test('a killed process holds no lock, and a lost connection is replaced', async () => {
  const first = await begin(one, 'd');
  await fixture.deps.em().execute(
    `select pg_terminate_backend(a.pid) from pg_stat_activity a join pg_locks l on l.pid = a.pid
       where a.datname = current_database() and a.application_name = 'frontage exclusive' and l.locktype = 'advisory'`,
  );
  await until(
    () => other.run('d', now),
    (tried) => !tried.busy,
  );
  // It still is at it itself.
  expect(await one.run('d', now)).toEqual(busy);
  first.resolve('late');
  expect(await first.ended).toEqual({ busy: false, value: 'late' });
  expect(await one.run('d', now)).toEqual({ busy: false, value: 'done' });
});

test('a lock whose response was lost is released', async () => {
  const proxy = await openSilentProxy(fixture.database.url);
  onTestFinished(() => proxy.close());
  const far = openAdvisoryLocks(proxy.url, fixture.deps.log);
  onTestFinished(() => far.close());
  expect(await far.run('e', now)).toEqual({ busy: false, value: 'done' });
  proxy.silence('answers');
  await expect(far.run('f', now)).rejects.toThrow();
  await until(
    () => other.run('f', now),
    (tried) => !tried.busy,
  );
  expect(await far.run('f', now)).toEqual({ busy: false, value: 'done' });
});
