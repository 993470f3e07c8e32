import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Way, ways } from '../publishing/crash-ways.ts';
import { aroundActivities } from '../stack/worker.ts';
import { type BillingWorld, createBillingWorld } from './world.ts';

const { around, interceptors } = aroundActivities();
let world: BillingWorld;
beforeAll(async () => {
  world = await createBillingWorld({ interceptors });
});
afterAll(() => world?.close());

test.each(Object.keys(ways) as Way[])('a step that %s leaves one plan in force, and one subscription', async (way) => {
  const owner = await world.newCaller();
  await world.buy(owner, 'hobby');
  const page = await world.checkout(owner, 'studio');
  around.set('askAboutSubscription', ways[way]);
  await world.press(page, 'pay');
  await world.until(
    () => world.rows(owner),
    (rows) => rows.map(({ plan, status }) => `${plan} ${status}`).join() === 'hobby ended,studio active',
  );
  expect(around.size).toBe(0);
  expect(await world.read(owner)).toMatchObject({ plan: 'studio', status: 'active' });
  const [row] = (await world.rows(owner)).slice(-1);
  expect((await world.atProvider(owner)).live.map(({ id }) => id)).toEqual([row?.providerSubscription]);
});
