/** Random histories with builds that copy. */
import fc from 'fast-check';
import { afterAll, beforeAll, test } from 'vitest';
import type { Repository } from '#rules/states.ts';
import { createPreviewFixture, type PreviewFixture, type Site } from '#test/previews/fixture.ts';
import { type Hands, history, run } from '#test/previews/history.ts';
import { seedOr, sized } from './size.ts';

const count = sized({ short: 6, long: 200 });
const atOnce = Math.min(count, 3);

let fixture: PreviewFixture;
beforeAll(async () => {
  fixture = await createPreviewFixture({ limits: { sites: 10_000 } });
}, 60_000);
afterAll(() => fixture?.close());

function handsOn(site: Site): Hands {
  const { owner, repositories } = fixture;
  const paths = new Map<string, Promise<string[]>>();
  /** Neither a commit nor a deployment ever changes. */
  const known = (id: string, read: () => Promise<string[]>): Promise<string[]> => {
    const reading = paths.get(id) ?? read();
    paths.set(id, reading);
    return reading;
  };
  return {
    push: async (branch, repository, files) => void (await fixture.write(site, branch, files, repository)),
    async filesAt(branch: string, repository: Repository) {
      const tip = await repositories.head(site.id, repository, branch);
      if (tip === null) return null;
      return await known(tip, async () =>
        (await repositories.listTree(site.id, repository, tip)).map((file) => file.path),
      );
    },
    call: (method, path) => owner.call(method, path, { headers: { prefer: 'wait=50' } }),
    served: (id) =>
      known(id, async () => {
        const { body } = await owner.call('GET', `/v1/deployments/${id}/files?limit=200`);
        return body.items.map((file: { path: string }) => file.path);
      }),
    live: async () => (await owner.call('GET', `/v1/sites/${site.id}`)).body.live_deployment_id,
  };
}

test('random histories lose no work, and slots, drafts and site agree with git', async () => {
  const property = fc.asyncProperty(history(14), async (steps) => {
    const site = await fixture.newSite();
    await run(handsOn(site), site.id, steps);
  });
  const seed = seedOr(Date.now() % 2 ** 31);
  const runs = Array.from({ length: atOnce }, (_, n) =>
    fc.assert(property, { numRuns: Math.ceil(count / atOnce), seed: seed + n }),
  );
  await Promise.all(runs);
}, 3_600_000);
