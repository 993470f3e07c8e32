import { afterAll, expect, test } from 'vitest';
import { loadSlot, loadSlots } from '#api/previews/slots.ts';
import { Preview } from '#db/previews/preview.ts';
import { storeDraft, sweepPreviews } from '#db/previews/transitions.ts';
import { Site } from '#db/sites/site.ts';
import { lockSite } from '#db/sites/transitions.ts';
import { previewKeptMs, previewMarkedMs } from '#rules/states.ts';
import { createFixture, createSite } from '#test/api/fixture.ts';
import { untilBlocked } from '#test/stack/until.ts';
import { path } from './fixture.ts';

const fixture = await createFixture();
const owner = await fixture.newCaller();
afterAll(() => fixture.close());

/** A slot whose draft is being built, and what ends its build. */
async function building() {
  const site = await createSite(owner, { template: 'blank' });
  const begun = await owner.call('POST', path(site, 1), { headers: { prefer: 'respond-async' } });
  expect(begun.body.status).toBe('building');
  const { latestId } = await fixture.deps.em().findOneOrFail(Preview, { site: site.id, slot: 1 });
  const output = { manifestSha256: 'a'.repeat(64), fileCount: 1, totalBytes: 1 };
  const store = () =>
    storeDraft(fixture.deps.em(), fixture.clock, latestId, { output, publishedOutput: null, image: 'x' });
  return { site, latestId, store };
}

test('a slot read at the end of its build is consistent', async () => {
  const { site, latestId, store } = await building();
  const { repositories } = fixture.deps;
  if (!repositories) throw new Error('a draft is being built');
  /** The build ends while git is asked for the branches. */
  const meanwhile: typeof repositories.head = async (...asked) => {
    await store();
    return repositories.head(...asked);
  };
  const em = fixture.deps.em();
  const row = await em.findOneOrFail(Site, { id: site.id });
  const slot = await loadSlot(em, { ...fixture.deps, repositories: { ...repositories, head: meanwhile } }, row, 1);
  expect([slot.status, slot.draft?.id]).toEqual(['draft', latestId]);
});

test('a slot is shown as building while its build is replaced', async () => {
  const { site, latestId, store } = await building();
  await store();
  await owner.call('POST', path(site, 2), { headers: { prefer: 'respond-async' } });
  const em = fixture.deps.em();
  const row = await em.findOneOrFail(Site, { id: site.id });
  const { latestId: replaced } = await em.fork().findOneOrFail(Preview, { site: site.id, slot: 2 });
  const { repositories } = fixture.deps;
  if (!repositories) throw new Error('a draft is being built');
  const meanwhile: typeof repositories.head = async (...asked) => {
    await em.fork().nativeUpdate(Preview, { site: site.id, slot: 2 }, { latestId });
    return repositories.head(...asked);
  };
  const slots = await loadSlots(
    em,
    { ...fixture.deps, repositories: { ...repositories, head: meanwhile } },
    row,
    [1, 2],
  );
  expect(slots.map(({ status, latest }) => [status, latest?.id])).toEqual([
    ['draft', latestId],
    ['building', replaced],
  ]);
});

test('the sweep and a call on a slot that is due do not deadlock', async () => {
  const { site, store } = await building();
  await store();
  fixture.skip(previewKeptMs + previewMarkedMs);
  const now = fixture.clock.now();
  const { sweeping } = await fixture.deps.em().transactional(async (tx) => {
    await lockSite(tx, site.id);
    const sweeping = sweepPreviews(fixture.deps.em(), now);
    await untilBlocked(fixture.deps);
    await tx.nativeUpdate(Preview, { site: site.id }, { removedAt: now });
    return { sweeping };
  });
  expect(await sweeping).toBeGreaterThan(0);
});
