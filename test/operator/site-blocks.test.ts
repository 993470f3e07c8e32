import { afterAll, expect, test } from 'vitest';
import { blockSite } from '#db/sites/transitions.ts';
import { createFixture, createSite } from '#test/api/fixture.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());

test('a blocked site can be published, so that it can be fixed', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  await blockSite(fixture.deps.em(), fixture.clock, site.id, 'It shows what is not its own.');
  const headers = { prefer: 'respond-async' };
  expect((await owner.call('POST', `/v1/sites/${site.id}/publish`, { headers })).status).toBeLessThan(300);
});
