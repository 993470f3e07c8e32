/** An installation that is backed up, empty ones to restore into, and places for backups. */
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkBackup } from '../../backups/check.ts';
import { createBackup } from '../../backups/create.ts';
import { type Manifest, readManifest } from '../../backups/manifest.ts';
import { openPlace } from '../../backups/place.ts';
import { restoreBackup } from '../../backups/restore.ts';
import type { World as ApiWorld } from '../api/world.ts';
import { challengeEnv } from '../forms/world.ts';
import { createWorld as createOutputWorld, type World } from '../output/world.ts';

export type { World };
export const env = { ...challengeEnv, FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:9' };
export const createWorld = (more: Record<string, string> = {}) => createOutputWorld({ ...env, ...more });
export const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');

type Deps = Pick<ApiWorld, 'config' | 'clock'>;

/** A folder for backups, and what an operator does with it. */
export async function openFolder() {
  const dir = await mkdtemp(join(tmpdir(), 'frontage-backup-test-'));
  return { ...operator(dir), remove: () => rm(dir, { recursive: true, force: true }) };
}

export function operator(where: string) {
  const named = async (deps: Deps, name?: string) => {
    const place = await openPlace(deps.config, where);
    return { place, manifest: await readManifest(place, name) };
  };
  return {
    where,
    create: async (deps: Deps): Promise<Manifest> => createBackup(deps, await openPlace(deps.config, where)),
    async check(deps: Deps, name?: string) {
      const { place, manifest } = await named(deps, name);
      return await checkBackup(place, manifest);
    },
    async restore(deps: Deps, name?: string) {
      const { place, manifest } = await named(deps, name);
      return await restoreBackup(deps, place, manifest);
    },
    /** Paths of all files, with what they hold at the end of their name. */
    files: async () =>
      (await readdir(where, { recursive: true, withFileTypes: true }))
        .filter((one) => one.isFile())
        .map((one) => join(one.parentPath, one.name))
        .sort(),
  };
}
