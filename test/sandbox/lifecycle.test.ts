import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openSandbox } from '#providers/sandbox/factory.ts';
import type { Sandbox } from '#providers/sandbox/sandbox.ts';
import { quickest } from '#test/stack/quickest.ts';
import {
  build,
  buildUntil,
  dataDir,
  engine,
  listContainers,
  newOwner,
  openKind,
  request,
  site,
  siteThatRuns,
} from './fixture.ts';
import { describeKinds, inGroups } from './kinds.ts';

const waits = siteThatRuns("console.log('I am waiting'); await new Promise((r) => setTimeout(r, 1e6));");

const slow = { timeout: 90_000 };

describeKinds((kind) => {
  const owner = newOwner();
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await openKind(kind, owner);
  }, 300_000);
  afterAll(() => sandbox?.close());

  test('an aborted build ends within two seconds with the reason, and leaves nothing', async () => {
    const aborted = async () => {
      const abort = new AbortController();
      const { ended } = await buildUntil(sandbox, waits, 'I am waiting', { signal: abort.signal });
      const started = performance.now();
      abort.abort(new Error('superseded'));
      await expect(ended).rejects.toThrow('superseded');
      const took = performance.now() - started;
      expect(await listContainers(owner)).toEqual([]);
      expect(await sandbox.removeOrphanBuilds(async () => false)).toBe(0);
      return took;
    };
    expect(await quickest(2_000, aborted)).toBeLessThan(2_000);
  });

  test('a build aborted before its start never starts', async () => {
    const signal = AbortSignal.abort(new Error('too late'));
    await expect(build(sandbox, site(), { signal })).rejects.toThrow('too late');
    expect(await listContainers(owner)).toEqual([]);
  });

  test('orphans of this installation and earlier attempts are removed, and nothing else', {
    ...slow,
    ...inGroups(kind),
  }, async () => {
    const foreign = await openKind(kind);
    onTestFinished(() => foreign.close());
    const kept = await buildUntil(sandbox, waits, 'I am waiting', { deploymentId: 'dep_kept' });
    const orphan = await buildUntil(sandbox, waits, 'I am waiting', { deploymentId: 'dep_orphan' });
    const theirs = await buildUntil(foreign, waits, 'I am waiting', { deploymentId: 'dep_theirs' });
    const asked: string[] = [];
    const isUnfinished = async (id: string) => asked.push(id) > 0 && id === 'dep_kept';
    expect(await sandbox.removeOrphanBuilds(isUnfinished)).toBe(1);
    expect(asked.sort()).toEqual(['dep_kept', 'dep_orphan']);
    expect(await orphan.ended.catch((error) => error)).not.toMatchObject({ status: 'built' });
    const other = await buildUntil(sandbox, waits, 'I am waiting', { signal: AbortSignal.timeout(60_000) });
    const earlier = kept.ended.catch((error) => error);
    const later = await build(sandbox, site(), { deploymentId: 'dep_kept' });
    expect(later.outcome).toEqual({ status: 'built' });
    expect(await earlier).not.toMatchObject({ status: 'built' });
    const untouched = Symbol('untouched');
    expect(await Promise.race([other.ended, Promise.resolve(untouched)])).toBe(untouched);
    expect(await sandbox.removeOrphanBuilds(async () => false)).toBe(1);
    expect(await foreign.removeOrphanBuilds(async () => false)).toBe(1);
    await Promise.allSettled([other.ended, theirs.ended]);
  });

  test('a failing file consumer gets its own error, and the build is removed', async () => {
    const onFile = async () => Promise.reject(new Error('the store is full'));
    await expect(build(sandbox, site(), { onFile })).rejects.toThrow('the store is full');
    expect(await sandbox.removeOrphanBuilds(async () => false)).toBe(0);
  });

  test('a broken source is not the site’s fault', async () => {
    const source = Readable.from(
      (async function* () {
        yield Buffer.alloc(100);
        throw new Error('the repository is gone');
      })(),
    );
    await expect(sandbox.build(request({}, { source }))).rejects.toThrow('the repository is gone');
    expect(await sandbox.removeOrphanBuilds(async () => false)).toBe(0);
  });
});

const quiet = { info: () => {}, warn: () => {} };
const options = { dataDir, owner: newOwner(), log: quiet, onProgress: () => {} };

test('the setting off opens no sandbox', async () => {
  expect(await openSandbox({ ...options, mode: 'off', dockerHost: '' })).toBeUndefined();
});

test('an engine is preferred, and an outdated one is logged', { tags: 'docker' }, async () => {
  const warnings: string[] = [];
  const log = { info: () => {}, warn: (text: string) => void warnings.push(text) };
  const dockerHost = process.env.DOCKER_HOST ?? '';
  expect(await openSandbox({ ...options, log, mode: 'auto', dockerHost })).toMatchObject({ kind: 'docker' });
  const version = (await engine?.version())?.Version ?? '';
  if (Number(version.split('.')[0]) < 29) expect(warnings.join()).toContain(version);
});

test('bubblewrap is used if no engine responds', { tags: 'bubblewrap', timeout: 60_000 }, async () => {
  const found = await openSandbox({ ...options, mode: 'auto', dockerHost: 'unix:///nowhere/docker.sock' });
  expect(found).toMatchObject({ kind: 'bubblewrap', refusals: [{ kind: 'docker', reason: expect.any(String) }] });
  await found?.close();
});

test('a named engine that does not respond is an error, never another sandbox', async () => {
  const asked = openSandbox({ ...options, mode: 'docker', dockerHost: 'unix:///nowhere/docker.sock' });
  await expect(asked).rejects.toThrow('No container engine is responding.');
  const remote = openSandbox({ ...options, mode: 'docker', dockerHost: 'ssh://there' });
  await expect(remote).rejects.toThrow('DOCKER_HOST is ssh://there, not unix:// or tcp://');
});
