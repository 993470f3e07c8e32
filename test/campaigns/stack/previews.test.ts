/** Random histories with real pushes and real builds. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Repository } from '#rules/states.ts';
import { clone } from '#test/acceptance/story.ts';
import { sized } from '#test/campaigns/size.ts';
import { type Answer, type Hands, history, run } from '#test/previews/history.ts';
import { useStack } from '#test/stack/stack.ts';

const stack = useStack();
const count = sized({ short: 1, long: 10 });

type Git = Awaited<ReturnType<typeof clone>>;
let sites = 0;

/** A site of an owner who has built nothing in the last hour, with a clone of both repositories. */
async function openHands(): Promise<{ hands: Hands; siteId: string }> {
  const { token } = await stack.openOwner();
  const call = async (method: string, path: string, body?: unknown) =>
    (await stack.api(path, { method, token, headers: { prefer: 'wait=50' }, ...(body ? { body } : {}) })) as Answer;
  const name = `history-${process.pid}-${++sites}`;
  const { body: site } = await stack.api('/v1/sites', {
    method: 'POST',
    token,
    body: { name, title: 'H', template: 'blog' },
  });
  const clones = { source: await clone(site, 'source', token), content: await clone(site, 'content', token) };
  const tipOf = async (git: Git, branch: string) => {
    await git('fetch', '-q', '--prune', 'origin');
    return (await git('branch', '-r', '--list', `origin/${branch}`, '--format=%(objectname)')).trim();
  };
  const hands: Hands = {
    async push(branch: string, repository: Repository, files) {
      const git = clones[repository];
      const tip = (await tipOf(git, branch)) || 'origin/main';
      await git('switch', '-q', '-C', branch, tip);
      const top = (await git('rev-parse', '--show-toplevel')).trim();
      for (const [path, text] of Object.entries(files)) await writeFile(join(top, path), text);
      await git('add', '.');
      await git('commit', '-qm', 'Work');
      await git('push', '-q', 'origin', branch);
    },
    async filesAt(branch, repository) {
      const git = clones[repository];
      const tip = await tipOf(git, branch);
      return tip === '' ? null : (await git('ls-tree', '-r', '--name-only', tip)).split('\n');
    },
    call,
    async served(id) {
      const { body } = await stack.api(`/v1/deployments/${id}/files?limit=200`, { token });
      return body.items.map((file: { path: string }) => file.path);
    },
    live: async () => (await stack.api(`/v1/sites/${site.id}`, { token })).body.live_deployment_id,
  };
  return { hands, siteId: site.id };
}

test('random histories with real builds lose no work, and agree with git', async () => {
  const property = fc.asyncProperty(history(9), async (steps) => {
    const { hands, siteId } = await openHands();
    await run(hands, siteId, steps);
  });
  const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);
  await fc.assert(property, { numRuns: count, seed, endOnFailure: true });
  expect(sites).toBeGreaterThanOrEqual(count);
}, 3_600_000);
