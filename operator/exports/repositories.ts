/** The repositories of a site that is taken in: judged in a folder of the import, made beside their places, moved there last. */
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { checkPush } from '#git/push.ts';
import { anyBytes, platformFiles, type Rules, readPlatformFiles, sentence } from '#git/rules.ts';
import { missingCommits, type Refs, unpack, writeRefs } from '#operator/backups/repositories.ts';
import { writeCommit } from '#providers/repositories/commits.ts';
import { walkTree } from '#providers/repositories/objects.ts';
import { openRepositories } from '#providers/repositories.ts';
import { capsOf } from '#rules/caps.ts';
import type { Repository } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { refused, type Unpacked } from './archive-reader.ts';
import { ExportFault, type SiteDocument } from './document.ts';

export const kinds = ['source', 'content'] as const satisfies Repository[];
type Deps = { config: Config; clock: Clock };

/** As a push of all of it. `dir` is a folder that goes away. Throws ExportFault. */
export async function judgeRepositories(
  deps: Deps,
  { document, path }: Unpacked,
  { dir, standing }: { dir: string; standing: string | null },
): Promise<void> {
  const { limits, lift } = capsOf(deps, { standing });
  // Those of the release that it comes from, which may have been another one.
  const platform = new Map([...platformFiles().keys()].map((name) => [name, anyBytes]));
  for (const repository of kinds) {
    const aside = join(dir, `${repository}.git`);
    await unpack(aside, [createReadStream(path.pack(repository))], ['--strict']).catch(() => {
      throw refused(`${repository}.pack is no sound repository`);
    });
    await judge(aside, document, { repository, limits, lift, platform });
  }
}

async function judge(dir: string, { repositories, live }: SiteDocument, rules: Rules): Promise<void> {
  const { repository } = rules;
  const { refs } = repositories[repository];
  const commit = repository === 'source' ? live?.source_commit : live?.content_commit;
  const shown = commit && !Object.values(refs).includes(commit) ? [commit] : [];
  if ((await missingCommits(dir, [...Object.values(refs), ...shown])).length > 0)
    throw refused(`${repository}.pack lacks commits`);
  // What is live was on main once.
  const tips = [...Object.entries(refs), ...shown.map((to) => ['refs/heads/main', to] as const)];
  const updates = tips.map(([ref, to]) => ({ ref, from: null, to }));
  const [verdict] = await checkPush(rules, { dir }, updates, null);
  if (verdict) throw refused(`its ${repository}: ${sentence(verdict)}`);
}

/** `aside` is where it was made, `place` where the site has it. */
export type Made = { aside: string; place: string };

/** Makes them beside their places, for `act` to move them there, and removes what is still aside then. */
export async function withRepositories<T>(
  { config, clock }: Deps,
  { document, path }: Unpacked,
  act: (made: readonly Made[]) => Promise<T>,
): Promise<T> {
  const { repositoriesDir } = config;
  if (repositoriesDir === undefined) throw new ExportFault('This installation holds no repositories.');
  const repositories = openRepositories(repositoriesDir);
  const made = kinds.map((repository) => ({
    repository,
    aside: join(repositoriesDir, '.making', randomUUID()),
    place: repositories.place(document.site.id, repository).dir,
  }));
  try {
    for (const { repository, aside } of made) {
      const { refs } = document.repositories[repository];
      await unpack(aside, [createReadStream(path.pack(repository))]);
      await writeRefs(aside, refs);
      if (repository === 'source') await bringPlatformFiles(aside, refs, { config, clock });
    }
    return await act(made);
  } finally {
    for (const { aside } of made) await rm(aside, { recursive: true, force: true });
  }
}

/** Whoever clones the site installs the packages of this installation, whatever the archive says they are. */
async function bringPlatformFiles(dir: string, refs: Refs, { config, clock }: Deps): Promise<void> {
  const changes = [...platformFiles()].map(([path, bytes]) => ({ path, bytes }));
  const author = { name: 'Frontage', email: `frontage@${config.baseDomain}` };
  const message = 'Use the packages that the platform builds with';
  const at = clock.now();
  for (const [ref, parent] of Object.entries(refs)) {
    if (await hasPlatformFiles(dir, parent)) continue;
    if ((await writeCommit({ dir }, { ref, parent, message, author, at, changes })) === null)
      throw new Error('a branch that nobody knows of has moved');
  }
}

async function hasPlatformFiles(dir: string, commit: string): Promise<boolean> {
  const wanted = readPlatformFiles();
  let found = 0;
  for await (const { path, oid } of walkTree({ dir }, commit)) if (wanted.get(path) === oid) found += 1;
  return found === wanted.size;
}

/** Each by one rename. Throws ExportFault where something is in the way, and has then moved none. */
export async function place(made: readonly Made[]): Promise<void> {
  const placed: Made[] = [];
  try {
    for (const one of made) {
      await mkdir(dirname(one.place), { recursive: true });
      await rename(one.aside, one.place);
      placed.push(one);
    }
  } catch (error) {
    await takeBack(placed);
    if (!['ENOTEMPTY', 'EEXIST'].includes(String((error as NodeJS.ErrnoException).code))) throw error;
    throw new ExportFault(
      'A repository of this site is here, though the site is not. What a killed import has left is removed after a day. Nothing was changed.',
    );
  }
}

/** What this process has placed, and nothing that somebody else has put there since. */
export async function takeBack(placed: readonly Made[]): Promise<void> {
  for (const { aside, place } of placed) await rename(place, aside);
}
