/** The file `frontage.toml` of a commit. */
import {
  type BuildSettings,
  defaultSettings,
  parseBuildSettings,
  settingsBytesMax,
  settingsFile,
  UnusableSettings,
} from '#providers/build-settings.ts';
import { type Place, runGit } from '#providers/repositories/git.ts';
import { bytesOf } from '#providers/repositories/objects.ts';
import type { TreeEntry } from '#providers/repositories/trees.ts';
import type { Repositories } from '#providers/repositories.ts';

/** The settings among the files of a commit of the source. Throws UnusableSettings. */
export async function readSettings(
  repositories: Repositories,
  siteId: string,
  files: readonly TreeEntry[],
): Promise<BuildSettings> {
  const file = files.find(({ path }) => path === settingsFile);
  if (!file) return defaultSettings;
  // Without its contents, a file that is too large fails as such.
  if (file.bytes > settingsBytesMax) return parseBuildSettings(Buffer.alloc(settingsBytesMax + 1));
  for await (const { content } of repositories.readBlobs(siteId, 'source', [file.oid]))
    return parseBuildSettings(await bytesOf(content));
  throw new Error('the settings are not in the repository');
}

/** The settings of a commit of the source, which may be in quarantine. A file that cannot be used has none: it may be older than its rules. */
export async function settingsAt(place: Place, commit: string): Promise<BuildSettings> {
  const { status, stdout } = await runGit(place, ['cat-file', 'blob', `${commit}:${settingsFile}`], {
    accept: [0, 128],
  });
  try {
    return status === 0 ? parseBuildSettings(stdout) : defaultSettings;
  } catch (error) {
    if (error instanceof UnusableSettings) return defaultSettings;
    throw error;
  }
}

/** Settings of commits, which never change. */
const known = new Map<string, BuildSettings>();
const knownMax = 1000;

/** The settings at the tip of the main branch of the source. Starts no process if it knows that commit. */
export async function settingsOfMain(repositories: Repositories, siteId: string): Promise<BuildSettings> {
  const tip = await repositories.head(siteId, 'source');
  if (tip === null) return defaultSettings;
  const found = known.get(`${siteId} ${tip}`) ?? (await settingsAt(repositories.place(siteId, 'source'), tip));
  if (known.size >= knownMax) known.clear();
  known.set(`${siteId} ${tip}`, found);
  return found;
}
