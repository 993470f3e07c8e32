/**
 * @module-tag namespaces
 *
 * A sandbox of namespaces where the service may make no control groups, as for most ordinary users.
 */
import { expect, onTestFinished, test, vi } from 'vitest';
import { openNamespacesSandbox } from '#providers/sandbox/namespaces.ts';
import { build, dataDir, hog, newOwner, site } from './fixture.ts';

vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof import('node:fs/promises')>();
  const mkdir = async (path: string, options: object) => {
    if (path.startsWith('/sys/fs/cgroup/')) throw Object.assign(new Error('permission denied'), { code: 'EACCES' });
    return await real.mkdir(path, options);
  };
  return { ...real, mkdir };
});

test('a process that takes memory without end fails the build', { timeout: 120_000 }, async () => {
  const warnings: string[] = [];
  const warn = (text: string) => void warnings.push(text);
  const sandbox = await openNamespacesSandbox({ dataDir, owner: newOwner(), onProgress: () => {}, warn });
  onTestFinished(() => sandbox.close());
  expect(warnings.join()).toContain('a coarse one on the memory of each process');
  const { outcome } = await build(sandbox, hog);
  expect(outcome).toMatchObject({
    code: 'build_failed',
    message: expect.stringContaining('exceeded its memory limit'),
  });
  expect((await build(sandbox, site())).outcome).toEqual({ status: 'built' });
});
