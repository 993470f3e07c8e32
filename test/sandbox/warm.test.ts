/** Sandboxes started ahead. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { openSandbox } from '#providers/sandbox/factory.ts';
import type { Sandbox } from '#providers/sandbox/sandbox.ts';
import { readTemplate } from '#templates/templates.ts';
import { size } from '#test/campaigns/size.ts';
import { build, dataDir, listPurposes, newOwner, openKind, roomy, site, siteThatRuns } from './fixture.ts';
import { describeFirst, describeKinds, type Kind, kinds } from './kinds.ts';

const opened: Sandbox[] = [];
afterEach(() => Promise.all(opened.splice(0).map((sandbox) => sandbox.close())));

/** A sandbox that keeps one warm. `warmed` resolves when it has said so `n` times. */
async function openWarm(kind: Kind, owner: string) {
  const heard: string[] = [];
  const info = (text: string) => void heard.push(text);
  const sandbox = await openSandbox({
    mode: kind,
    dataDir,
    dockerHost: process.env.DOCKER_HOST ?? '',
    owner,
    warm: { count: 1, slots: 1, limits: roomy },
    log: { info, warn: () => {} },
    onProgress: () => {},
  });
  if (!sandbox) throw new Error('No sandbox was opened.');
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

/** Hides the control groups from a program, as from most users who are not root: they have none in which they may write. */
const withoutGroups = ['unshare', '--mount', 'sh', '-c', 'mount -t tmpfs -o ro none /sys/fs/cgroup && exec "$@"', 'sh'];
const hasGroups = (kind: Kind) => kind !== 'namespaces';

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // The process has exited.
  }
}

function listDescendants(pid: number): number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...listDescendants(child)]);
}

/** A process that has exited and whose parent has not noticed has no command line. */
const isAlive = (pid: number) => read(`/proc/${pid}/cmdline`) !== '';
const isPaused = (pid: number) => /^State:\s*T/m.test(read(`/proc/${pid}/status`));

/** Starts a worker, and waits until its sandbox is warm. */
async function startWorker(kind: Kind, owner: string) {
  const node = [process.execPath, join(import.meta.dirname, 'warm-worker.ts'), kind, owner];
  const isHiding = !hasGroups(kind) && process.getuid?.() === 0;
  const [program = '', ...args] = [...(isHiding ? withoutGroups : []), ...node];
  const worker = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void worker.kill('SIGKILL'));
  const ready = once(worker.stdout, 'data').then(String);
  // An engine gives a rehearsal less of the CPU instead.
  if (kind !== 'docker') {
    const isAnyPaused = () => listDescendants(worker.pid as number).some(isPaused);
    await expect.poll(isAnyPaused, { timeout: 60_000, interval: 5 }).toBe(true);
  }
  await expect(ready).resolves.toContain('A warm sandbox is ready.');
  return worker;
}

describeFirst((kind) => {
  /** As `listPurposes`; where a sandbox cannot be found, what should be found. */
  const found = async (owner: string, expected: string[]) => (await listPurposes(kind, owner)) ?? expected;

  test('a warm sandbox is used once, by a build with its limits, and replaced', slow, async () => {
    const owner = newOwner();
    const { sandbox, warmed } = await openWarm(kind, owner);
    await warmed(1);
    expect(await found(owner, ['warm'])).toEqual(['warm']);
    const other = await build(sandbox, site(), { limits: { memoryBytes: 900 * 1024 ** 2 } });
    expect(other.outcome).toEqual({ status: 'built' });
    expect(await found(owner, ['warm'])).toEqual(['warm']);
    const names: string[][] = [];
    const onBuilt = async () => void names.push(await found(owner, ['dep_ahead']));
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
    await expect.poll(() => found(owner, ['warm'])).toEqual(['warm']);
    // Each is warmed up by two builds, so only campaigns see another one used.
    if (size !== 'one') {
      await warmed(2);
      const [files, cold] = [await blog(), await openKind(kind)];
      expect((await build(sandbox, files)).files).toEqual((await build(cold, files)).files);
      await warmed(3);
      expect((await build(sandbox, marks)).log).toContain('marked: false');
    }
    await sandbox.close();
    expect(await found(owner, [])).toEqual([]);
  });
});

describeKinds(
  (kind) => {
    test('a warm sandbox gives way while it rehearses, and dies with its worker', slow, async () => {
      const owner = newOwner();
      const sweeper = await openKind(kind, owner);
      opened.push(sweeper);
      const worker = await startWorker(kind, owner);
      const processes = listDescendants(worker.pid as number);
      expect(processes.length > 0).toBe(kind !== 'docker');
      expect(await sweeper.removeOrphanBuilds(async () => false)).toBe(0);
      const found = await listPurposes(kind, owner);
      expect(found ?? ['warm']).toEqual(hasGroups(kind) ? ['warm'] : []);
      worker.kill('SIGKILL');
      let removed = 0;
      const remains = async () => {
        removed += await sweeper.removeOrphanBuilds(async () => false);
        return [...processes.filter(isAlive), ...((await listPurposes(kind, owner)) ?? [])];
      };
      await expect.poll(remains, { timeout: 30_000 }).toEqual([]);
      expect(removed).toBe(found?.length ?? 0);
    });
  },
  size === 'one' ? ['bubblewrap'] : kinds,
);
