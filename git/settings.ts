/** The file `frontage.toml` of a commit. */
import {
  type BuildSettings,
  defaultSettings,
  parseBuildSettings,
  settingsBytesMax,
  settingsFile,
} from '#providers/build-settings.ts';
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
