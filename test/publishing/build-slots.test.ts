/** How accounts share the slots of builds. The API, a worker and a Temporal are real; the builds end when a test lets them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordBuilderPresence } from '#db/deployments/builder-capacity.ts';
import type { BuildRequest, Sandbox } from '#providers/sandbox/sandbox.ts';
import { nextBuilds } from '#rules/builds/slots.ts';
import { builder, type Caller, createFixture, createSite, type Fixture } from '#test/api/fixture.ts';
import { createCopying } from '#test/previews/copying.ts';
import { createNamespace, startWorker } from '#test/stack/worker.ts';

let fixture: Fixture;
let worker: Awaited<ReturnType<typeof startWorker>>;
/** The builds that run, in the order of their starts, each with the function that lets it go on. */
const running = new Map<string, () => void>();

beforeAll(async () => {
  fixture = await createFixture({ TEMPORAL_NAMESPACE: await createNamespace() });
  await recordBuilderPresence(fixture.deps.em(), fixture.clock, { ...builder, slots: 2 });
  worker = await startWorker(fixture.deps, { sandbox: createHeld() });
}, 60_000);
afterAll(async () => {
  for (const goOn of running.values()) goOn();
  await worker?.close();
  await fixture?.close();
});

function createHeld(): Sandbox {
  const { sandbox } = createCopying();
  return {
    ...sandbox,
    async build(request: BuildRequest) {
      const { promise, resolve } = Promise.withResolvers<void>();
      running.set(request.deploymentId, resolve);
      await promise;
      return await sandbox.build(request).finally(() => running.delete(request.deploymentId));
    },
  };
}

const accepted = { headers: { prefer: 'respond-async' } };
async function publish(owner: Caller): Promise<string> {
  const site = await createSite(owner, { template: 'blank' });
  return (await owner.call('POST', `/v1/sites/${site.id}/publish`, { body: {}, ...accepted })).body.id;
}
/** A draft waits for a slot too. */
async function preview(owner: Caller): Promise<string> {
  const site = await createSite(owner, { template: 'blank' });
  return (await owner.call('POST', `/v1/sites/${site.id}/previews/1`, accepted)).body.build_id;
}
const run = (...ids: string[]) => expect.poll(() => [...running.keys()], { timeout: 20_000 }).toEqual(ids);
const end = (id: string) => running.get(id)?.();

test('others wait for one build of an account that floods', { timeout: 60_000 }, async () => {
  const [flood, one, other] = [await fixture.newCaller(), await fixture.newCaller(), await fixture.newCaller()];
  const floods = [await publish(flood)];
  await run(...floods);
  floods.push(await preview(flood));
  await run(...floods);
  const [first, second, third] = [...floods, await publish(flood)] as [string, string, string];
  const ones = await publish(one);
  const others = await preview(other);
  end(first);
  await run(second, ones);
  end(second);
  await run(ones, others);
  end(ones);
  await run(others, third);
});

test('with four slots an account has two while another waits, and all when alone', () => {
  const queue = (of: string) => Array.from({ length: 9 }, (_, at) => ({ id: `${of}${at}`, account: of }));
  const none = new Map<string, number>();
  const free = { slots: 4, running: none, lastStart: none };
  expect(nextBuilds({ ...free, waiting: queue('a') })).toEqual(['a0', 'a1', 'a2', 'a3']);
  expect(nextBuilds({ ...free, waiting: [...queue('a'), ...queue('b')] })).toEqual(['a0', 'b0', 'a1', 'b1']);
  const two = { slots: 4, running: new Map([['a', 2]]), lastStart: new Map([['a', 5]]) };
  expect(nextBuilds({ ...two, waiting: [...queue('a'), { id: 'b0', account: 'b' }] })).toEqual(['b0', 'a0']);
  expect(nextBuilds({ ...two, waiting: [...queue('a'), ...queue('b')] })).toEqual(['b0', 'b1']);
  const turns = { slots: 1, running: none, lastStart: new Map(Object.entries({ a: 3, b: 1, c: 2 })) };
  expect(nextBuilds({ ...turns, waiting: [...queue('a'), ...queue('c'), ...queue('b')] })).toEqual(['b0']);
  expect(nextBuilds({ ...turns, slots: 1, running: new Map([['b', 2]]), waiting: queue('a') })).toEqual([]);
});

test('a late build gets what the others leave, and does not halve their share', () => {
  const none = new Map<string, number>();
  const of = (account: string, isLate: boolean) => ({ id: `${account}${isLate}`, account, isLate });
  const late = of('x', true);
  const own = Array.from({ length: 4 }, (_, at) => ({ id: `a${at}`, account: 'a' }));
  const queue = { slots: 4, running: none, lastStart: none };
  expect(nextBuilds({ ...queue, waiting: [late, ...own] })).toEqual(['a0', 'a1', 'a2', 'a3']);
  expect(nextBuilds({ ...queue, waiting: [late, ...own.slice(0, 2)] })).toEqual(['a0', 'a1', 'xtrue']);
});
