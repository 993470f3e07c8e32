/** Build caches, over HTTP: they reach the next build of the same site, and nobody else. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Sandbox } from '#providers/sandbox/sandbox.ts';
import { type Caller, createFixture, createSite, type Fixture } from '#test/api/fixture.ts';
import { openKind } from '#test/sandbox/fixture.ts';
import { createNamespace, startWorker } from '#test/stack/worker.ts';

/** Says in the log what it finds among the caches, and then writes there. */
const poisoning = (words: string) => `
  import fs from 'node:fs'; import os from 'node:os'; import path from 'node:path';
  const folder = path.join(os.tmpdir(), 'cache', 'astro');
  const found = path.join(folder, 'poison');
  console.log('FOUND ' + (fs.existsSync(found) ? fs.readFileSync(found, 'utf8') : 'nothing'));
  ${words && `fs.mkdirSync(folder, { recursive: true }); fs.writeFileSync(found, ${JSON.stringify(words)});`}
  export default {};`;

describe('build caches', { tags: 'docker' }, () => {
  let fixture: Fixture;
  let worker: Awaited<ReturnType<typeof startWorker>>;
  let owner: Caller;
  let neighbour: Caller;
  const over = new Set<string>();
  beforeAll(async () => {
    fixture = await createFixture({ TEMPORAL_NAMESPACE: await createNamespace() });
    [owner, neighbour] = [await fixture.newCaller(), await fixture.newCaller()];
    const real = await openKind('docker');
    const build: Sandbox['build'] = (request) => real.build(request).finally(() => over.add(request.deploymentId));
    worker = await startWorker(fixture.deps, { sandbox: { ...real, build } });
  }, 300_000);
  afterAll(async () => {
    await worker?.close();
    await fixture?.close();
  });

  let commits = 0;
  /** Commits the configuration and publishes it. Answers what its build found. */
  async function publish(caller: Caller, siteId: unknown, words: string, headers: Record<string, string> = {}) {
    commits += 1;
    const changes = [{ path: 'astro.config.mjs', text: `// ${commits}${poisoning(words)}` }];
    const commit = await caller.call('POST', `/v1/sites/${siteId}/commits`, {
      body: { message: 'Change it', changes },
    });
    expect(commit.status, commit.text).toBe(200);
    const asked = { body: {}, headers: { prefer: 'wait=50', ...headers } };
    const { body } = await caller.call('POST', `/v1/sites/${siteId}/publish`, asked);
    const read = () => caller.call('GET', `/v1/deployments/${body.id}`);
    await expect.poll(async () => (await read()).body.status, { timeout: 120_000, interval: 200 }).toBe('live');
    // Live comes first, and then the caches.
    await expect.poll(() => over.has(body.id), { timeout: 60_000, interval: 50 }).toBe(true);
    const log = await caller.call('GET', `/v1/deployments/${body.id}/log`);
    return /FOUND (.*)/.exec(log.text)?.[1];
  }

  test('poisoned caches never reach another site, and no-cache clears them', {
    timeout: 400_000,
  }, async () => {
    const [mine, theirs] = [await createSite(owner, { template: 'blank' }), await createSite(neighbour)];
    const own = await createSite(owner, { template: 'blank' });
    expect(await publish(owner, mine.id, 'poison')).toBe('nothing');
    // Else the rest would show nothing.
    expect(await publish(owner, mine.id, '')).toBe('poison');
    expect(await publish(owner, own.id, '')).toBe('nothing');
    expect(await publish(neighbour, theirs.id, '')).toBe('nothing');
    expect(await publish(owner, mine.id, '', { 'cache-control': 'no-cache' })).toBe('nothing');
    expect(await publish(owner, mine.id, '')).toBe('nothing');
  });
});
