/** Backups of the whole installation: see docs/operations.md. */
import { type Checked, checkBackup } from '../../backups/check.ts';
import { createBackup } from '../../backups/create.ts';
import { BackupFault, type Manifest, readManifest } from '../../backups/manifest.ts';
import { openPlace } from '../../backups/place.ts';
import { restoreBackup } from '../../backups/restore.ts';
import { countSealed } from '../../db/sealed.ts';
import { command } from './command.ts';

const shown = ({ name, version, at, endedAt, from, tables, repositories, blobs, spoilt }: Manifest) => ({
  backup: name,
  version,
  at,
  ended_at: endedAt,
  from: from.baseUrl,
  rows: tables.reduce((sum, { rows }) => sum + rows, 0),
  repositories: repositories.count,
  files: blobs.count,
  spoilt,
});

export const backupCommands = {
  'backup create': command({
    about:
      'Writes rows, repositories and files as they are now to a folder or bucket, while everything goes on. What an earlier one there has is not copied again. The keys (FRONTAGE_SECRET, FRONTAGE_SEALING_KEYS) are not in it: keep them elsewhere.',
    needs: ['into'],
    async run({ config, clock }, { into }) {
      const manifest = await createBackup({ config, clock }, await openPlace(config, into));
      return { ...shown(manifest), keys: 'not in it: FRONTAGE_SECRET and FRONTAGE_SEALING_KEYS have to be kept apart' };
    },
  }),
  'backup list': command({
    about: 'The backups of a folder or bucket, the oldest first.',
    needs: ['from'],
    async run({ config }, { from }) {
      const place = await openPlace(config, from);
      const items = [];
      for (const name of await place.names()) items.push(shown(await readManifest(place, name)));
      return { items };
    },
  }),
  'backup check': command({
    about:
      'Reads all of a backup, the newest unless one is named: whether every byte is what it was, and all that rows name is in it.',
    needs: ['from'],
    takes: ['backup'],
    async run({ config }, { from, backup }) {
      const place = await openPlace(config, from);
      const manifest = await readManifest(place, backup);
      const checked = await checkBackup(place, manifest);
      if (checked.faults.length > 0) throw new BackupFault(faultsOf(manifest, checked));
      return { backup: manifest.name, at: manifest.at, ...checked };
    },
  }),
  'backup restore': command({
    about:
      'Brings a backup, the newest unless one is named, back into an empty installation: a new database and new folders, under the keys of the old one. Run it before anything is started.',
    needs: ['from'],
    takes: ['backup'],
    async run({ em, config, clock }, { from, backup }) {
      const place = await openPlace(config, from);
      const manifest = await readManifest(place, backup);
      const restored = await restoreBackup({ config, clock }, place, manifest);
      const { blobs: files, ...counts } = restored;
      return {
        backup: manifest.name,
        at: manifest.at,
        files,
        ...counts,
        sealed: await countSealed(em, config.sealing),
      };
    },
  }),
};

const faultsShown = 20;

function faultsOf({ name }: Manifest, { faults }: Checked): string {
  const more = faults.length - faultsShown;
  const lines = [...faults.slice(0, faultsShown), ...(more > 0 ? [`… and ${more} more`] : [])];
  return `The backup ${name} can't be restored whole:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}
