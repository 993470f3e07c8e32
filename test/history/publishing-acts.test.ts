/** What calls record that change what visitors see, or what is to be published. */
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { sweep } from '#api/sweeps.ts';
import { hourMs } from '#rules/time.ts';
import { sender } from '#test/output/sending.ts';
import { createPreviewFixture, type PreviewFixture, page } from '#test/previews/fixture.ts';
import { expectRecorded, recordedBy } from './recording.ts';

let fixture: PreviewFixture;
beforeAll(async () => {
  fixture = await createPreviewFixture({ env: { FRONTAGE_PHOTOS: 'offline' } });
}, 60_000);
afterAll(() => fixture?.close());

test('uploads, restores and photos are recorded', async () => {
  const { deps, owner } = fixture;
  const site = await fixture.newSite();
  const output = sender(owner);
  const first = await output.publish(site, { 'index.html': page('One') });
  const upload = await output.begin(site);
  await output.fill(upload, { 'index.html': page('Two') });
  const { body: live } = await expectRecorded(deps, 'deployment.completed', () => output.complete(upload));
  expect(live.id).toBe(upload.id);
  await expectRecorded(deps, 'deployment.restored', () => owner.call('POST', `/v1/deployments/${first.id}/restore`));
  await fixture.isServed(site, '/', 'One');
  const found = (await owner.call('POST', '/v1/photos/search', { body: { query: 'bread' } })).body.items;
  const body = { photo_id: found[0].id, path: 'src/assets/bread.jpg' };
  await expectRecorded(deps, 'repository.committed', () => owner.call('POST', `/v1/sites/${site.id}/photos`, { body }));
});

test('updates, publishes and the end of a preview slot are recorded', async () => {
  const { deps } = fixture;
  const site = await fixture.newSite();
  await fixture.write(site, 'preview/1', { 'ours.html': page('Ours') });
  await fixture.build(site, 1);
  await fixture.write(site, 'main', { 'theirs.html': page('Theirs') });
  await expectRecorded(deps, ['repository.merged', 'preview.built'], () => fixture.update(site, 1));
  await expectRecorded(deps, 'preview.published', () => fixture.publish(site, 1));
  await expectRecorded(deps, 'preview.cleared', () => fixture.clear(site, 1));
});

test('the clean-up records an update of a preview that its call could not', async () => {
  const { deps, repositories } = fixture;
  const site = await fixture.newSite();
  await fixture.write(site, 'preview/1', { 'ours.html': page('Ours') });
  await fixture.build(site, 1);
  await fixture.write(site, 'main', { 'theirs.html': page('Theirs') });
  const asking = vi.spyOn(repositories, 'wasPushed').mockRejectedValueOnce(new Error('unreadable'));
  onTestFinished(() => void asking.mockRestore());
  expect(await recordedBy(deps, () => fixture.update(site, 1))).toEqual([]);
  expect(fixture.takeUnexpected()).toHaveLength(1);
  const recorded = await recordedBy(deps, async () => {
    await sweep(deps);
    await sweep(deps);
  });
  const to = await repositories.head(site.id, 'source', 'preview/1');
  expect(recorded).toMatchObject([{ action: 'repository.merged', via_kind: 'token', detail: { to } }]);
});

/** The next removal or move of branches fails, after git has done it or before. */
function failNextMove(when: 'before' | 'after'): void {
  const { repositories } = fixture;
  const move = repositories.move.bind(repositories);
  const spy = vi.spyOn(repositories, 'move').mockImplementationOnce(async (...which) => {
    if (when === 'after') await move(...which);
    throw new Error('as if the process were killed');
  });
  onTestFinished(() => void spy.mockRestore());
}

/** A slot with work, whose clear died before or after git had removed the branch. */
async function slotOfLostClear(when: 'before' | 'after') {
  const { deps, repositories } = fixture;
  const site = await fixture.newSite();
  await fixture.write(site, 'preview/1', { 'ours.html': page('Ours') });
  await fixture.build(site, 1);
  failNextMove(when);
  const clear = () => fixture.clear(site, 1, '?discard=true');
  let status = 0;
  const recorded = await recordedBy(deps, async () => {
    ({ status } = await clear());
  });
  expect([status, recorded, fixture.takeUnexpected().length]).toEqual([500, [], 1]);
  return {
    site,
    clear,
    head: () => repositories.head(site.id, 'source', 'preview/1'),
    rows: () => deps.em().execute('select id from accepted_push where site_id = ?', [site.id]),
    status: async () => (await fixture.read(site, 1)).body.status,
    sweepTwice: () =>
      recordedBy(deps, async () => {
        await sweep(deps);
        await sweep(deps);
      }),
  };
}
const cleared = { action: 'preview.cleared', via_kind: 'token', via_name: 'first', detail: { discarded: true } };

test('the clean-up completes and records a clear that died after git had acted', async () => {
  const slot = await slotOfLostClear('after');
  expect([await slot.head(), await slot.status()]).toEqual([null, 'draft']);
  expect(await slot.sweepTwice()).toMatchObject([cleared]);
  expect([await slot.status(), await slot.rows()]).toEqual(['empty', []]);
});

test('a clear that died after git had acted is recorded once when repeated', async () => {
  const slot = await slotOfLostClear('after');
  let answer: Awaited<ReturnType<typeof slot.clear>> | undefined;
  const recorded = await recordedBy(fixture.deps, async () => {
    answer = await slot.clear();
  });
  expect([answer?.status, answer?.body.status]).toEqual([200, 'empty']);
  expect(recorded).toMatchObject([cleared]);
  expect([await slot.sweepTwice(), await slot.rows()]).toEqual([[], []]);
  expect((await slot.clear()).body.error.code).toBe('slot_empty');
});

test('a clear that died before git had acted is recorded once when repeated', async () => {
  const slot = await slotOfLostClear('before');
  await expectRecorded(fixture.deps, 'preview.cleared', slot.clear);
  expect([await slot.sweepTwice(), await slot.rows(), await slot.status()]).toEqual([[], [], 'empty']);
});

test('a clear that died after git had acted leaves what was made since', async () => {
  const slot = await slotOfLostClear('after');
  await fixture.skip(1_000);
  await fixture.write(slot.site, 'preview/1', { 'new.html': page('New') });
  await fixture.build(slot.site, 1);
  const head = await slot.head();
  expect(await slot.sweepTwice()).toMatchObject([cleared]);
  expect([await slot.status(), await slot.head(), await slot.rows()]).toEqual(['draft', head, []]);
});

test('a clear that died before git had acted is not recorded', async () => {
  const slot = await slotOfLostClear('before');
  const head = await slot.head();
  expect([await slot.sweepTwice(), (await slot.rows()).length]).toEqual([[], 1]);
  expect([await slot.status(), head]).toEqual(['draft', expect.any(String)]);
  await fixture.skip(hourMs + 1);
  expect([await slot.sweepTwice(), await slot.rows(), await slot.head()]).toEqual([[], [], head]);
  await expectRecorded(fixture.deps, 'preview.cleared', slot.clear);
});

test('a preview’s publish is recorded once although its activity dies after git acted', async () => {
  const { deps, repositories } = fixture;
  const site = await fixture.newSite();
  const commit = await fixture.write(site, 'preview/1', { 'ours.html': page('Ours') });
  await fixture.build(site, 1);
  failNextMove('after');
  const { body } = await expectRecorded(deps, 'preview.published', () => fixture.publish(site, 1));
  expect([body.status, await repositories.head(site.id, 'source')]).toEqual(['live', commit]);
});
