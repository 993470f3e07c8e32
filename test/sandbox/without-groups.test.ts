/**
 * @module-tag namespaces
 *
 * A sandbox of namespaces where the service may make no control groups, as for most ordinary users.
 */
import { expect, onTestFinished, test, vi } from 'vitest';
import { openNamespacesSandbox } from '#providers/sandbox/namespaces.ts';
import { build, coarseLimitLine, dataDir, hog, newOwner, siteThatTellsLimits } from './fixture.ts';

vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof import('node:fs/promises')>();
  const mkdir = async (path: string, options: object) => {
    if (path.startsWith('/sys/fs/cgroup/')) throw Object.assign(new Error('permission denied'), { code: 'EACCES' });
    return await real.mkdir(path, options);
  };
  return { ...real, mkdir };
});

test('a process has a coarse limit of memory, and fails the build at it', { timeout: 120_000 }, async () => {
  const warnings: string[] = [];
  const warn = (text: string) => void warnings.push(text);
  const sandbox = await openNamespacesSandbox({ dataDir, owner: newOwner(), onProgress: () => {}, warn });
  onTestFinished(() => sandbox.close());
  expect(warnings.join()).toContain('has no limit on memory');
  const told = await build(sandbox, siteThatTellsLimits);
  expect(told.outcome).toEqual({ status: 'built' });
  expect(String(told.files.get('limits.txt'))).toMatch(coarseLimitLine);
  // V8 ends the process, or the program gets an error.
  const { outcome } = await build(sandbox, hog, { limits: { memoryBytes: 64 * 1024 ** 2 } });
  expect(outcome).toMatchObject({ code: 'build_failed' });
});
