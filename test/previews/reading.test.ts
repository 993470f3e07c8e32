import { afterAll, expect, test } from 'vitest';
import { loadSlot } from '#api/previews/slots.ts';
import { Preview } from '#db/previews/preview.ts';
import { storeDraft } from '#db/previews/transitions.ts';
import { Site } from '#db/sites/site.ts';
import { createFixture, createSite } from '#test/api/fixture.ts';
import { path } from './fixture.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());

test('a slot read at the end of its build is consistent', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner, { template: 'blank' });
  const begun = await owner.call('POST', path(site, 1), { headers: { prefer: 'respond-async' } });
  expect(begun.body.status).toBe('building');
  const { latestId } = await fixture.deps.em().findOneOrFail(Preview, { site: site.id, slot: 1 });
  const { repositories } = fixture.deps;
  if (!repositories || !latestId) throw new Error('a draft is being built');
  const output = { manifestSha256: 'a'.repeat(64), fileCount: 1, totalBytes: 1 };
  /** The build ends while git is asked for the branches. */
  const meanwhile: typeof repositories.head = async (...asked) => {
    await storeDraft(fixture.deps.em(), fixture.clock, latestId, { output, publishedOutput: null, image: 'x' });
    return repositories.head(...asked);
  };
  const em = fixture.deps.em();
  const row = await em.findOneOrFail(Site, { id: site.id });
  const slot = await loadSlot(em, { ...fixture.deps, repositories: { ...repositories, head: meanwhile } }, row, 1);
  expect([slot.status, slot.draft?.id]).toEqual(['draft', latestId]);
});
