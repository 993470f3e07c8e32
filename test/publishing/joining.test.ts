/** Publishes of what is already being published. */
import { afterAll, expect, test } from 'vitest';
import { createFixture, createSite } from '#test/api/fixture.ts';

// No worker runs here, so every publish stays in progress.
const fixture = await createFixture();
afterAll(() => fixture.close());
const owner = await fixture.newCaller();

test('an identical publish in progress is joined, and another one is not', async () => {
  const site = await createSite(owner, { template: 'blank' });
  const publish = async (headers = {}) =>
    (
      await owner.call('POST', `/v1/sites/${site.id}/publish`, {
        body: {},
        headers: { prefer: 'respond-async', ...headers },
      })
    ).body;
  const first = await publish();
  expect(first.address).toContain(site.name);
  expect(await publish()).toMatchObject({ id: first.id, number: 1, address: first.address });
  const both = await Promise.all([publish(), publish()]);
  expect(both.map(({ id }) => id)).toEqual([first.id, first.id]);
  const changes = [{ path: 'src/pages/new.md', text: 'New.' }];
  await owner.call('POST', `/v1/sites/${site.id}/commits`, { body: { message: 'New', changes } });
  const second = await publish();
  expect([second.number, (await publish()).id]).toEqual([2, second.id]);
  const fresh = await publish({ 'cache-control': 'no-cache' });
  expect([fresh.number, (await publish()).number]).toEqual([3, 4]);
  const read = async (id: string) => (await owner.call('GET', `/v1/deployments/${id}`)).body;
  const overtaken = await read(second.id);
  expect(overtaken).toMatchObject({ status: 'superseded', superseded_by: fresh.id });
  expect(overtaken.next_action).toContain(`GET /v1/deployments/${fresh.id}`);
  expect((await read(fresh.id)).address).toBe(first.address);
});
