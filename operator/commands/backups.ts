/** Commands for backups of the whole installation: see docs/backups.md. */

import { countEncrypted } from '#db/encrypted-columns.ts';
import { type Checked, checkBackup, setDamagedAside } from '#operator/backups/check.ts';
import { createBackup } from '#operator/backups/create.ts';
import { BackupFault } from '#operator/backups/fault.ts';
import { type Manifest, readManifest } from '#operator/backups/manifest.ts';
import { removeBackups } from '#operator/backups/remove.ts';
import { openBackupRepository } from '#operator/backups/repository.ts';
import { restoreBackup } from '#operator/backups/restore.ts';
import { command, UsageError } from './command.ts';
import { listed, pageBy, rowsToRead } from './listing.ts';

const shown = ({ name, version, at, endedAt, from, tables, repositories, blobs, ...rest }: Manifest) => ({
  backup: name,
  version,
  at,
  ended_at: endedAt,
  from: from.baseUrl,
  rows: tables.reduce((sum, { rows }) => sum + rows, 0),
  repositories: repositories.count,
  files: blobs.count,
  without_repositories: rest.withoutRepositories,
  missing: firstOf(rest.missing),
  corrupt: firstOf(rest.corrupt ?? []),
});

/** Selects the names to remove; the oldest comes first. Throws UsageError. */
function chosenBy(backup: string | undefined, keep: string | undefined): (names: string[]) => string[] {
  if (!backup === !keep) throw new UsageError('backup remove requires either --backup or --keep.');
  if (backup) return () => [backup];
  if (!/^[1-9]\d{0,5}$/.test(keep ?? '')) throw new UsageError('--keep must be a whole number, 1 or greater.');
  return (names) => names.slice(0, -Number(keep));
}

const firstOf = (all: readonly string[]) => ({ count: all.length, first: all.slice(0, listed) });

type Counted = ReturnType<typeof firstOf>;

function gapsMessage({ missing, corrupt }: { missing: Counted; corrupt: Counted }): string | undefined {
  const words = [
    missing.count > 0 ? `${missing.count} site repositories are missing` : '',
    corrupt.count > 0 ? `${corrupt.count} files in the store do not match their hashes` : '',
  ].filter(Boolean);
  return words.length > 0 ? `The backup was written but is incomplete: ${words.join(', ')}.` : undefined;
}

export const backupCommands = {
  'backup create': command({
    about:
      'Backs up the database, repositories and files to a folder or bucket while the installation is running. Data that an earlier backup there contains is not copied again. Exits with 1 if a site’s repository is missing or a file in the store is corrupt. The keys (FRONTAGE_SECRET, FRONTAGE_SEALING_KEYS) are not included; store them elsewhere.',
    needs: ['into'],
    async run({ config, clock }, { into }) {
      const manifest = await createBackup({ config, clock }, await openBackupRepository(config, into));
      return { ...shown(manifest), keys: 'not included; store FRONTAGE_SECRET and FRONTAGE_SEALING_KEYS elsewhere' };
    },
    alarm: (answer) => gapsMessage(answer as { missing: Counted; corrupt: Counted }),
  }),
  'backup list': command({
    about: `Lists the backups in a folder or bucket, oldest first, ${listed} at a time.`,
    needs: ['from'],
    takes: ['after'],
    async run({ config }, { from, after = '' }) {
      const place = await openBackupRepository(config, from);
      const names = (await place.names()).filter((name) => name > after).slice(0, rowsToRead);
      const page = pageBy(
        names,
        (name) => name,
        (name) => name,
      );
      const items = [];
      for (const name of page.items) items.push(shown(await readManifest(place, name)));
      return { ...page, items };
    },
  }),
  'backup remove': command({
    about:
      'Removes one backup (--backup), or all but the newest N (--keep N), and all data that no remaining backup uses. It cannot run while a backup is being written to the same place. If it is interrupted, run it again.',
    needs: ['from'],
    takes: ['backup', 'keep'],
    async run({ config }, { from, backup, keep }) {
      const choose = chosenBy(backup, keep);
      const { absent, unread, ...removed } = await removeBackups(await openBackupRepository(config, from), choose);
      return { ...removed, absent, unread: firstOf(unread) };
    },
    alarm(answer) {
      const { absent, unread } = answer as { absent: string[]; unread: Counted };
      if (absent.length > 0) return `There is no backup ${absent[0]} here. Data that no backup uses was removed.`;
      if (unread.count === 0) return undefined;
      return `The backup was removed, but its data was kept, because the backup ${unread.first[0]} cannot be read. Remove that backup too.`;
    },
  }),
  'backup check': command({
    about:
      'Verifies every byte of a backup (the newest by default) and checks that it contains everything its rows refer to. --repair moves damaged parts aside so that the next backup writes them again.',
    needs: ['from'],
    takes: ['backup', 'repair'],
    async run({ config }, { from, backup, repair }) {
      const place = await openBackupRepository(config, from);
      const manifest = await readManifest(place, backup);
      const checked = await checkBackup(place, manifest);
      const moved = repair ? await setDamagedAside(place, checked) : 0;
      if (checked.faults.length > 0) throw new BackupFault(damageReport(manifest, checked) + movedMessage(moved));
      const { damaged: _, ...counts } = checked;
      return { backup: manifest.name, at: manifest.at, ...counts };
    },
  }),
  'backup restore': command({
    about:
      'Restores a backup (the newest by default) into an empty installation: a new database and new folders, with the keys of the old one. Run it before you start any process. The new installation replaces the old one, which must no longer run, because the new one takes over its e-mails, domains and payments. --dry-run restores a copy for inspection that starts no workflows and sends no e-mail. --despite-damage skips damaged data and lists it.',
    needs: ['from'],
    takes: ['backup', 'dry-run', 'despite-damage'],
    async run({ em, config, clock }, { from, backup, 'dry-run': dryRun, 'despite-damage': despite }) {
      const place = await openBackupRepository(config, from);
      const manifest = await readManifest(place, backup);
      const restored = await restoreBackup({ config, clock }, place, manifest, {
        isDryRun: Boolean(dryRun),
        despiteDamage: Boolean(despite),
      });
      const { blobs: files, leftOut, past, ...counts } = restored;
      const { mailsEnded, gitPasswords, reviewLinks, calendarFeeds, ...cameBack } = past;
      return {
        backup: manifest.name,
        at: manifest.at,
        files,
        ...counts,
        left_out: firstOf(leftOut),
        mails_ended: mailsEnded,
        came_back: {
          ...cameBack,
          git_passwords: gitPasswords,
          review_links: reviewLinks,
          calendar_feeds: calendarFeeds,
        },
        sealed: await countEncrypted(em, config.encryptionKeys),
        next: dryRun ? afterDryRun : afterRestore,
      };
    },
  }),
};

const afterRestore =
  'This installation replaces the old one, which must not be started again. Blocks, revocations and removals made after the backup have been lost; repeat them.';
const afterDryRun =
  'This was a dry run. To inspect the result, start the API and the edge without a platform worker and without keys for payments, e-mail and DNS. Delete the restored installation afterwards.';

const movedMessage = (moved: number) =>
  moved > 0
    ? `\n${moved} damaged parts were moved aside. The next backup will write them again if the installation still has them.`
    : '';

const faultsShown = 20;

function damageReport({ name }: Manifest, { faults }: Checked): string {
  const more = faults.length - faultsShown;
  const lines = [...faults.slice(0, faultsShown), ...(more > 0 ? [`… and ${more} more`] : [])];
  return `The backup ${name} cannot be restored completely:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}
