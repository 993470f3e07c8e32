/** Sandboxes started ahead. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { openDockerSandbox } from '#providers/sandbox/docker.ts';
import type { Sandbox } from '#providers/sandbox/sandbox.ts';
import { readTemplate } from '#templates/templates.ts';
import { size } from '#test/campaigns/size.ts';
import { build, dataDir, engine, listContainers, newOwner, openKind, roomy, site, siteThatRuns } from './fixture.ts';

const opened: Sandbox[] = [];
afterEach(() => Promise.all(opened.splice(0).map((sandbox) => sandbox.close())));

/** A sandbox that keeps one warm. `warmed` resolves when it has said so `n` times. */
async function openWarm(owner: string, count = 1) {
  if (!engine) throw new Error('No container engine answers.');
  const heard: string[] = [];
  const info = (text: string) => void heard.push(text);
  const sandbox = await openDockerSandbox({
    docker: engine,
    dataDir,
    owner,
    onProgress: () => {},
    warm: { count, limits: roomy, info },
  });
  opened.push(sandbox);
  const warmed = (n: number) =>
    expect
      .poll(() => heard.filter((text) => text === 'A warm sandbox is ready.').length, {
        timeout: 170_000,
        interval: 50,
      })
      .toBe(n);
  return { sandbox, warmed };
}

async function blog(): Promise<Map<string, Buffer>> {
  const template = await readTemplate('blog', { title: 'Warm' });
  const posts = [...(template?.content ?? [])].map(([path, bytes]) => [`src/content/${path}`, bytes] as const);
  return new Map([...(template?.source ?? []), ...posts]);
}

/** Says whether another build was in its sandbox before. */
const marks = siteThatRuns(
  `import fs from 'node:fs'; console.log('marked: ' + (fs.existsSync('/tmp/mark') || !!globalThis.mark));
   fs.writeFileSync('/tmp/mark', ''); globalThis.mark = true;`,
);
const slow = { timeout: 240_000 };

describe('with an engine', { tags: 'docker' }, () => {
  test('a warm sandbox is used once, by a build with its limits, and replaced', slow, async () => {
    const owner = newOwner();
    const { sandbox, warmed } = await openWarm(owner);
    await warmed(1);
    expect(await listContainers(owner)).toEqual(['warm']);
    const other = await build(sandbox, site(), { limits: { memoryBytes: 900 * 1024 ** 2 } });
    expect(other.outcome).toEqual({ status: 'built' });
    expect(await listContainers(owner)).toEqual(['warm']);
    const names: string[][] = [];
    const onBuilt = async () => void names.push(await listContainers(owner));
    const ahead = await build(sandbox, marks, { deploymentId: 'dep_ahead', onBuilt });
    expect(names).toEqual([['dep_ahead']]);
    expect(ahead.log).not.toContain('rehearsal');
    // Further builds start normally.
    const plain = await Promise.all([1, 2].map(() => build(sandbox, marks)));
    for (const { outcome, log, files } of [ahead, ...plain]) {
      expect(outcome).toEqual({ status: 'built' });
      expect(log).toContain('marked: false');
      expect(files).toEqual(ahead.files);
    }
    await expect.poll(() => listContainers(owner)).toEqual(['warm']);
    // Each is warmed up by two builds, so only campaigns see another one used.
    if (size !== 'one') {
      await warmed(2);
      const [files, cold] = [await blog(), await openKind('docker')];
      expect((await build(sandbox, files)).files).toEqual((await build(cold, files)).files);
      await warmed(3);
      expect((await build(sandbox, marks)).log).toContain('marked: false');
    }
    await sandbox.close();
    expect(await listContainers(owner)).toEqual([]);
  });

  test('a warm sandbox does not outlive its killed worker', slow, async () => {
    const owner = newOwner();
    const worker = spawn(process.execPath, [join(import.meta.dirname, 'warm-worker.ts'), owner], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(worker.stdout, 'data');
    const sweeper = await openKind('docker', owner);
    expect(await sweeper.removeOrphanBuilds(async () => false)).toBe(0);
    expect(await listContainers(owner)).toEqual(['warm']);
    worker.kill('SIGKILL');
    await expect
      .poll(
        async () => (await sweeper.removeOrphanBuilds(async () => false)) + (await listContainers(owner)).length * 10,
        {
          timeout: 30_000,
        },
      )
      .toBe(1);
    expect(await listContainers(owner)).toEqual([]);
  });
});
