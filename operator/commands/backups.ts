/** Backups of the whole installation: see docs/backups.md. */

import { countSealed } from '#db/encrypted-columns.ts';
import { type Checked, checkBackup, mendPlace } from '#operator/backups/check.ts';
import { createBackup } from '#operator/backups/create.ts';
import { BackupFault } from '#operator/backups/fault.ts';
import { type Manifest, readManifest } from '#operator/backups/manifest.ts';
import { removeBackups } from '#operator/backups/remove.ts';
import { openPlace } from '#operator/backups/repository.ts';
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
  spoilt: firstOf(rest.spoilt),
});

/** Which of all names, the oldest first, are removed. Throws UsageError. */
function chosenBy(backup: string | undefined, keep: string | undefined): (names: string[]) => string[] {
  if (!backup === !keep) throw new UsageError('backup remove takes --backup or --keep, one of them.');
  if (backup) return () => [backup];
  if (!/^[1-9]\d{0,5}$/.test(keep ?? '')) throw new UsageError('--keep takes a number from 1 on.');
  return (names) => names.slice(0, -Number(keep));
}

const firstOf = (all: readonly string[]) => ({ count: all.length, first: all.slice(0, listed) });

type Counted = ReturnType<typeof firstOf>;

function lackWords({ missing, spoilt }: { missing: Counted; spoilt: Counted }): string | undefined {
  const words = [
    missing.count > 0 ? `${missing.count} repositories of sites were not there to be copied` : '',
    spoilt.count > 0 ? `${spoilt.count} files of the store are not what their names say` : '',
  ].filter(Boolean);
  return words.length > 0 ? `The backup was written, and it is not all: ${words.join(', ')}.` : undefined;
}

export const backupCommands = {
  'backup create': command({
    about:
      'Writes rows, repositories and files as they are now to a folder or bucket, while everything goes on. What an earlier one there has is not copied again. Ends with 1 where a repository of a site was missing or a file of the store is spoilt. The keys (FRONTAGE_SECRET, FRONTAGE_SEALING_KEYS) are not in it: keep them elsewhere.',
    needs: ['into'],
    async run({ config, clock }, { into }) {
      const manifest = await createBackup({ config, clock }, await openPlace(config, into));
      return { ...shown(manifest), keys: 'not in it: FRONTAGE_SECRET and FRONTAGE_SEALING_KEYS have to be kept apart' };
    },
    alarm: (answer) => lackWords(answer as { missing: Counted; spoilt: Counted }),
  }),
  'backup list': command({
    about: `The backups of a folder or bucket, the oldest first, ${listed} at a time.`,
    needs: ['from'],
    takes: ['after'],
    async run({ config }, { from, after = '' }) {
      const place = await openPlace(config, from);
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
      'Removes one backup of a folder or bucket (--backup), or all but the newest so many (--keep), and every part that no other backup there names. Not while one is being written there. Killed half-way, it is run again.',
    needs: ['from'],
    takes: ['backup', 'keep'],
    async run({ config }, { from, backup, keep }) {
      const choose = chosenBy(backup, keep);
      const { absent, unread, ...removed } = await removeBackups(await openPlace(config, from), choose);
      return { ...removed, absent, unread: firstOf(unread) };
    },
    alarm(answer) {
      const { absent, unread } = answer as { absent: string[]; unread: Counted };
      if (absent.length > 0) return `There was no backup ${absent[0]} here. What no backup names was removed.`;
      if (unread.count === 0) return undefined;
      return `The name is gone, and all parts stayed: ${unread.first[0]} is damaged and does not say what it is made of. Remove it too.`;
    },
  }),
  'backup check': command({
    about:
      'Reads all of a backup, the newest unless one is named: whether every byte is what it was, and all that rows name is in it. --mend moves damaged parts aside, so that the next backup writes them anew.',
    needs: ['from'],
    takes: ['backup', 'mend'],
    async run({ config }, { from, backup, mend }) {
      const place = await openPlace(config, from);
      const manifest = await readManifest(place, backup);
      const checked = await checkBackup(place, manifest);
      const moved = mend ? await mendPlace(place, checked) : 0;
      if (checked.faults.length > 0) throw new BackupFault(faultsOf(manifest, checked) + movedWords(moved));
      const { damaged: _, ...counts } = checked;
      return { backup: manifest.name, at: manifest.at, ...counts };
    },
  }),
  'backup restore': command({
    about:
      'Brings a backup, the newest unless one is named, back into an empty installation: a new database and new folders, under the keys of the old one. Run it before anything is started. It takes the place of the old one, which must not run any more: mails go on, domains and payments are followed. --drill only tries: it starts nothing and sends nothing. --despite-damage leaves out what is damaged, and names it.',
    needs: ['from'],
    takes: ['backup', 'drill', 'despite-damage'],
    async run({ em, config, clock }, { from, backup, drill, 'despite-damage': despite }) {
      const place = await openPlace(config, from);
      const manifest = await readManifest(place, backup);
      const restored = await restoreBackup({ config, clock }, place, manifest, {
        isDrill: Boolean(drill),
        despiteDamage: Boolean(despite),
      });
      const { blobs: files, leftOut, past, ...counts } = restored;
      const { mailsEnded, gitPasswords, reviewLinks, ...cameBack } = past;
      return {
        backup: manifest.name,
        at: manifest.at,
        files,
        ...counts,
        left_out: firstOf(leftOut),
        mails_ended: mailsEnded,
        came_back: { ...cameBack, git_passwords: gitPasswords, review_links: reviewLinks },
        sealed: await countSealed(em, config.sealing),
        next: drill ? afterDrill : afterRestore,
      };
    },
  }),
};

const afterRestore =
  'This installation takes the place of the old one, which must not be started again. What was blocked, revoked or removed since the backup is so no more: do it again.';
const afterDrill =
  'A drill: start API and edge to look at it, and no platform worker, without keys of payments, mail and DNS. Throw it away afterwards.';

const movedWords = (moved: number) =>
  moved > 0
    ? `\n${moved} damaged parts were moved aside: the next backup writes anew what the installation still has.`
    : '';

const faultsShown = 20;

function faultsOf({ name }: Manifest, { faults }: Checked): string {
  const more = faults.length - faultsShown;
  const lines = [...faults.slice(0, faultsShown), ...(more > 0 ? [`… and ${more} more`] : [])];
  return `The backup ${name} can't be restored whole:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}
