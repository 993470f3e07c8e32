/** What calls record that change what visitors see, or what is to be published. */
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { sweep } from '#api/sweeps.ts';
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
