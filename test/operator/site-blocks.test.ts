import { afterAll, expect, test } from 'vitest';
import { blockSite } from '#db/sites/transitions.ts';
import { createSite, createWorld } from '#test/api/world.ts';

const world = await createWorld();
afterAll(() => world.close());

test('a site that is blocked by itself can be published, so that it is mended', async () => {
  const owner = await world.newCaller();
  const site = await createSite(owner);
  await blockSite(world.deps.em(), world.clock, site.id, 'It shows what is not its own.');
  const headers = { prefer: 'respond-async' };
  expect((await owner.call('POST', `/v1/sites/${site.id}/publish`, { headers })).status).toBeLessThan(300);
});
