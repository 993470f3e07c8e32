import { afterAll, expect, test } from 'vitest';
import { loadSlot } from '#api/previews/slots.ts';
import { Preview } from '#db/previews/preview.ts';
import { storeDraft } from '#db/previews/transitions.ts';
import { Site } from '#db/sites/site.ts';
import { createSite, createWorld } from '#test/api/world.ts';
import { path } from './world.ts';

const world = await createWorld();
afterAll(() => world.close());

test('a slot that is read while its build ends is as it was before or as it is after', async () => {
  const owner = await world.newCaller();
  const site = await createSite(owner, { template: 'blank' });
  const begun = await owner.call('POST', path(site, 1), { headers: { prefer: 'respond-async' } });
  expect(begun.body.status).toBe('building');
  const { latestId } = await world.deps.em().findOneOrFail(Preview, { site: site.id, slot: 1 });
  const { repositories } = world.deps;
  if (!repositories || !latestId) throw new Error('a draft is being built');
  const output = { manifestSha256: 'a'.repeat(64), fileCount: 1, totalBytes: 1 };
  /** The build ends while git is asked for the branches. */
  const meanwhile: typeof repositories.head = async (...asked) => {
    await storeDraft(world.deps.em(), world.clock, latestId, { output, publishedOutput: null, image: 'x' });
    return repositories.head(...asked);
  };
  const em = world.deps.em();
  const row = await em.findOneOrFail(Site, { id: site.id });
  const slot = await loadSlot(em, { ...world.deps, repositories: { ...repositories, head: meanwhile } }, row, 1);
  expect([slot.status, slot.draft?.id]).toEqual(['draft', latestId]);
});
