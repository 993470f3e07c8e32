/** Which packages of a project are not offered. */
import { isBuiltin } from 'node:module';
import { offeredPackages } from '#providers/sandbox/image/offered-packages.ts';
import { nearest, packageOf } from '#providers/sandbox/image/runner/offered.mjs';

/** The packages of these imports that are not offered, each once. Paths, addresses and modules of Node are left out. */
export function missingFrom(imports: readonly string[]): { name: string; nearest: string | null }[] {
  const named = imports.map((one) => (isBuiltin(one) ? undefined : packageOf(one)));
  const missing = [...new Set(named)].filter(
    (name) => name !== undefined && !Object.hasOwn(offeredPackages, name),
  ) as string[];
  return missing.map((name) => ({ name, nearest: nearest(name, offeredPackages) ?? null }));
}
