/** Whose page is drawn next: which renderings are started, and which of them the browser shows. No browser is needed. */
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, expect, test, vi } from 'vitest';
import { browserActivities } from '#activities/rendering.ts';
import { lockAccount } from '#db/accounts/lock.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import { Rendering, type Work } from '#db/renderings/rendering.ts';
import { failRendering, finishRendering, queueRendering, sweepRenderings } from '#db/renderings/transitions.ts';
import { lockSite } from '#db/sites/transitions.ts';
import { BrowserFault } from '#providers/browser/pipe.ts';
import type { Renderer } from '#providers/browser/renderer.ts';
import { createTurns } from '#providers/browser/turns.ts';
import { minuteMs } from '#rules/time.ts';
import { workflowIds } from '#rules/workflow-ids.ts';
import { errors } from '#runtime/errors.ts';
import { newId } from '#runtime/ids.ts';
import { createSite } from '#test/output/fixture.ts';
import { untilBlocked } from '#test/stack/until.ts';
import { createPriority } from '#worker/priority.ts';
import { createRenderingFixture, goodPage } from './fixture.ts';

const fixture = await createRenderingFixture();
afterAll(() => fixture.close());
const soon = { headers: { prefer: 'respond-async' } };

test('an account has two screenshots started, and the next starts when one ends', async () => {
  const { queue, started, end } = await waitingRenderings();
  const shots: string[] = [];
  for (const width of [400, 401, 402, 403]) shots.push(await queue('shot', shotOf(width)));
  const [first, second, third, fourth] = shots;
  expect(await started(shots)).toEqual([first, second]);
  // What no call asked for keeps nothing that a call asked for from its start, and the other way round.
  const check = await queue('check', { paths: null }, false);
  expect(await started([check])).toEqual([check]);
  await end(second);
  expect(await started(shots)).toEqual([first, second, third]);
  await failRendering(fixture.deps.em(), fixture.clock, first ?? '', errors.page_not_shown('No.').toBody());
  expect(await started(shots)).toEqual(shots);
  await end(third);
  await end(fourth);
  // Those before it are gone without a word.
  const lost = [await queue('shot', shotOf(404)), await queue('shot', shotOf(405))];
  const last = await queue('shot', shotOf(406));
  expect(await started([last])).toEqual([]);
  await fixture.deps.em().nativeDelete(Rendering, { id: { $in: lost } });
  fixture.skip(61_000);
  await sweepRenderings(fixture.deps.em(), fixture.clock.now());
  expect(await started([last])).toEqual([last]);
});

test('a call that joins a queued check takes a place of those asked for', async () => {
  const { caller, version, queue, started } = await waitingRenderings();
  const all = [await queue('check', { paths: ['/'] }, false), await queue('check', { paths: ['/about'] }, false)];
  expect(await started(all)).toEqual(all.slice(0, 1));
  const path = `/v1/deployments/${version}/checks`;
  const joined = await caller.call('POST', path, { body: { paths: ['/about'] }, ...soon });
  expect(joined.body).toMatchObject({ id: all[1], status: 'queued' });
  expect(await started(all)).toEqual(all);
  expect((await caller.call('GET', '/v1/account')).body.limits.screenshots_per_hour.used).toBe(0);
});

test('a called check and the check of a publish do not deadlock', async () => {
  const { caller, version } = await waitingRenderings();
  const em = fixture.deps.em();
  const deployment = await em.findOneOrFail(Deployment, { id: version });
  const queue = (tx: typeof em, id: string, work: Work) =>
    queueRendering(tx, fixture.clock, { id, work, asked: false, deployment });
  const check = newId('check');
  const called = await em.transactional(async (tx) => {
    await queue(tx, newId('shot'), { card: true });
    const call = caller.call('POST', `/v1/deployments/${version}/checks`, { body: {}, ...soon });
    await untilBlocked(fixture.deps);
    await queue(tx, check, { paths: null });
    return { call };
  });
  expect(await called.call).toMatchObject({ status: 200, body: { id: check, status: 'queued' } });
});

test('a called check and a publish that is being accepted do not deadlock', async () => {
  const { caller, version } = await waitingRenderings();
  const em = fixture.deps.em();
  const { site } = await em.findOneOrFail(Deployment, { id: version });
  const { call } = await em.transactional(async (tx) => {
    await lockSite(tx, site.id);
    const call = caller.call('POST', `/v1/deployments/${version}/checks`, { body: {}, ...soon });
    await untilBlocked(fixture.deps);
    await lockAccount(tx, caller.accountId);
    return { call };
  });
  expect((await call).status).toBe(200);
});

test('an interrupted check stays unfinished, and blames no page', async () => {
  const { caller, queue } = await waitingRenderings();
  const id = await queue('check', { paths: ['/'] });
  const activity = new MockActivityEnvironment();
  let visits = 0;
  const renderer: Renderer = {
    wall: 'outer',
    product: 'none',
    async visit() {
      visits += 1;
      if (visits < 2) return [] as never;
      activity.cancel('WORKER_SHUTDOWN');
      throw new BrowserFault('The work was cancelled.');
    },
    close: async () => {},
  };
  const { drawPages } = browserActivities({ ...fixture.deps, renderer });
  await expect(activity.run(drawPages, id)).rejects.toThrow();
  expect(visits).toBe(2);
  expect((await caller.call('GET', `/v1/checks/${id}`, soon)).body).toMatchObject({ status: 'running', findings: [] });
});

test('a check of slow pages ends in time, and counts those that it left', async () => {
  const { caller, queue } = await waitingRenderings();
  const id = await queue('check', { paths: ['/', '/about'] });
  let late = 0;
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + late);
  const renderer: Renderer = {
    wall: 'outer',
    product: 'none',
    async visit() {
      late += 5 * minuteMs;
      return [] as never;
    },
    close: async () => {},
  };
  const { drawPages } = browserActivities({ ...fixture.deps, renderer });
  expect(await new MockActivityEnvironment().run(drawPages, id)).toBe('done');
  clock.mockRestore();
  const { body } = await caller.call('GET', `/v1/checks/${id}`, soon);
  expect(body).toMatchObject({ status: 'done', pages: ['/'], pages_left: 1 });
});

const shotOf = (width: number): Work => ({
  screenshot: { path: '/', width, height: 844, scheme: 'light', format: 'webp' },
});

/** A version of an account of its own, and how to queue renderings of it. */
async function waitingRenderings() {
  const { deps, clock } = fixture;
  const caller = await fixture.newCaller();
  const { id: site } = await createSite(caller);
  const files = { 'index.html': goodPage('Hello'), 'about.html': goodPage('About') };
  const version = await fixture.publish(site, caller.accountId, files);
  const deployment = await deps.em().findOneOrFail(Deployment, { id: version });

  return {
    caller,
    version,
    async queue(prefix: 'shot' | 'check', work: Work, asked = true): Promise<string> {
      fixture.skip(1);
      const rendering = { id: newId(prefix), deployment, work, asked };
      return await deps.em().transactional((tx) => queueRendering(tx, clock, rendering));
    },
    /** Those of them that have a workflow, in their order. */
    async started(ids: readonly string[]): Promise<string[]> {
      const rows = await deps
        .em()
        .execute<{ id: string }[]>(`select workflow_id as id from outbox where kind = 'start'`);
      return ids.filter((id) => rows.some((row) => row.id === workflowIds.renderPages(id)));
    },
    async end(id = ''): Promise<void> {
      const rendering = await deps.em().findOneOrFail(Rendering, { id });
      await finishRendering(deps.em(), clock, rendering, { pictures: [], result: null });
    },
  };
}

test('the account that used the browser least is next, asked pages before others', async () => {
  let now = 0;
  const inTurn = createTurns(() => now);
  const shown: string[] = [];
  const show = (name: string, ms: number, isAsked = false) =>
    inTurn(name[0] ?? '', isAsked, async () => {
      now += ms;
      shown.push(name);
    });
  const checks = async (account: string, pages: number, ms: number) => {
    for (let page = 1; page <= pages; page += 1) await show(`${account}${page}`, ms);
  };
  const many = [...['a0', 'a1', 'a2'].map((name) => show(name, 60_000)), show('a-asked', 60_000, true)];
  await Promise.all([...many, checks('b', 6, 1_500), checks('c', 2, 1_500)]);
  // b and c each have a turn of 4 s before the second page of a; then what is left of them.
  expect(shown).toEqual(['a0', 'b1', 'b2', 'b3', 'c1', 'c2', 'b4', 'b5', 'b6', 'a-asked', 'a1', 'a2']);
  await expect(inTurn('d', false, () => Promise.reject(new Error('not shown')))).rejects.toThrow('not shown');
  await show('e1', 1);
  expect(shown.at(-1)).toBe('e1');
});

test('a page waits while a build runs, but not for ever', async () => {
  const priority = createPriority();
  await priority.giveWay(60_000);
  const [one, other] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const builds = [one, other].map(({ promise }) => priority.first(() => promise));
  const shown: string[] = [];
  const page = priority.giveWay(60_000).then(() => shown.push('page'));
  await priority.giveWay(1);
  one.resolve();
  await builds[0];
  await priority.giveWay(1);
  expect(shown).toEqual([]);
  other.resolve();
  await page;
  await expect(priority.first(() => Promise.reject(new Error('not built')))).rejects.toThrow('not built');
  await priority.giveWay(60_000);
});
