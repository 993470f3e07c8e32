/** An installation that is backed up, empty ones to restore into, and backup repositories. */
import { createHash } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { checkBackup } from '#operator/backups/check.ts';
import { createBackup } from '#operator/backups/create.ts';
import { type Manifest, readManifest } from '#operator/backups/manifest.ts';
import { openBackupRepository } from '#operator/backups/repository.ts';
import { type RestoreOptions, restoreBackup } from '#operator/backups/restore.ts';
import { systemClock } from '#runtime/clock.ts';
import { readConfig } from '#runtime/config.ts';
import { createDeps } from '#runtime/deps.ts';
import type { Fixture as ApiFixture } from '#test/api/fixture.ts';
import { challengeEnv } from '#test/forms/fixture.ts';
import { createFixture as createOutputFixture, type Fixture } from '#test/output/fixture.ts';
import { createTestDatabase, makeFolder } from '#test/stack/database.ts';

export type { Fixture };
export const env = { ...challengeEnv, FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:9' };
// Who works for an hour of the test reaches no cap of a plan.
const limits = {
  publishes_per_hour: 100_000,
  previews_per_hour: 100_000,
  uploads_per_hour: 100_000,
  files_per_day: 100_000,
};
export const createFixture = (more: Record<string, string> = {}) =>
  createOutputFixture({ ...env, ...more }, { limits });
export const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');

type Deps = Pick<ApiFixture, 'config' | 'clock'>;

/** An installation that nobody serves yet: an empty database, and a folder. */
export async function openInstallation(more: Record<string, string> = {}) {
  const [database, dir] = await Promise.all([createTestDatabase(), makeFolder('frontage-empty-')]);
  const config = readConfig({
    DATABASE_URL: database.url,
    FRONTAGE_DATA: dir,
    FRONTAGE_SECRET: 'a secret of the tests, long enough',
    FRONTAGE_LOG_LEVEL: 'silent',
    ...env,
    ...more,
  });
  const deps = createDeps(config, { name: 'test' });
  return {
    config,
    clock: systemClock,
    deps,
    async close() {
      await deps.close();
      await database.drop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
export type Installation = Pick<Awaited<ReturnType<typeof openInstallation>>, 'config' | 'clock' | 'deps'>;

/** A folder for backups, and what an operator does with it. */
export async function openFolder() {
  const dir = await makeFolder('frontage-backup-test-');
  return { ...operator(dir), remove: () => rm(dir, { recursive: true, force: true }) };
}

export function operator(where: string) {
  const named = async (deps: Deps, name?: string) => {
    const place = await openBackupRepository(deps.config, where);
    return { place, manifest: await readManifest(place, name) };
  };
  return {
    where,
    create: async (deps: Deps): Promise<Manifest> => createBackup(deps, await openBackupRepository(deps.config, where)),
    async check(deps: Deps, name?: string) {
      const { place, manifest } = await named(deps, name);
      return await checkBackup(place, manifest);
    },
    async restore(deps: Deps, name?: string, wishes?: RestoreOptions) {
      const { place, manifest } = await named(deps, name);
      return await restoreBackup(deps, place, manifest, wishes);
    },
    /** Paths of all files, with what they hold at the end of their name. */
    files: async () =>
      (await readdir(where, { recursive: true, withFileTypes: true }))
        .filter((one) => one.isFile())
        .map((one) => join(one.parentPath, one.name))
        .sort(),
  };
}

/** Installations and folders of a file's tests; `closeAll` ends what they opened. */
export function keepOpened() {
  const opened: { close(): Promise<void> }[] = [];
  const folders: { remove(): Promise<void> }[] = [];
  return {
    opened,
    async elsewhere() {
      const made = await openInstallation();
      opened.push(made);
      return made;
    },
    async newFolder() {
      const made = await openFolder();
      folders.push(made);
      return made;
    },
    async closeAll() {
      await Promise.all(opened.map((one) => one.close()));
      await Promise.all(folders.map((one) => one.remove()));
    },
  };
}
