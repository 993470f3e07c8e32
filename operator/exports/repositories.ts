/**
 * The repositories of an imported site: validated in a temporary folder, created beside their final paths, and moved
 * there last.
 */
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ExportFault, type SiteDocument } from '#api/exports/document.ts';
import { checkPush } from '#git/push.ts';
import { anyBytes, platformFiles, type Rules, readPlatformFiles, sentence } from '#git/rules.ts';
import { missingCommits, unpack, writeRefs } from '#operator/backups/repositories.ts';
import { writeCommit } from '#providers/repositories/commits.ts';
import { historicFaults } from '#providers/repositories/git.ts';
import { listCommit } from '#providers/repositories/objects.ts';
import type { Refs } from '#providers/repositories/packs.ts';
import { openRepositories } from '#providers/repositories.ts';
import { planLimitsOf } from '#rules/plan-limits.ts';
import type { Repository } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { refused, type Unpacked } from './archive-reader.ts';

export const kinds = ['source', 'content'] as const satisfies Repository[];
// An archive may contain the history of an older repository, which its first push brought.
const strict = `--strict=${historicFaults.map((name) => `${name}=ignore`).join(',')}`;
type Deps = { config: Config; clock: Clock };

/** Validates them like a push of everything. `dir` is a temporary folder. Throws ExportFault. */
export async function validateRepositories(
  deps: Deps,
  { document, path }: Unpacked,
  { dir, subscriptions }: { dir: string; subscriptions: string | null },
): Promise<void> {
  const { limits, lift } = planLimitsOf(deps.config, { subscriptions }, deps.clock.now());
  // The archive may contain platform files of another release.
  const platform = new Map([...platformFiles().keys()].map((name) => [name, anyBytes]));
  for (const repository of kinds) {
    const aside = join(dir, `${repository}.git`);
    await unpack(aside, [createReadStream(path.pack(repository))], [strict]).catch(() => {
      throw refused(`${repository}.pack is not a valid repository`);
    });
    await validate(aside, document, { repository, limits, lift, platform });
  }
}

async function validate(dir: string, { repositories, live }: SiteDocument, rules: Rules): Promise<void> {
  const { repository } = rules;
  const { refs } = repositories[repository];
  const commit = repository === 'source' ? live?.source_commit : live?.content_commit;
  const shown = commit && !Object.values(refs).includes(commit) ? [commit] : [];
  if ((await missingCommits(dir, [...Object.values(refs), ...shown])).length > 0)
    throw refused(`commits are missing from ${repository}.pack`);
  // The live commit was on main once.
  const tips = [...Object.entries(refs), ...shown.map((to) => ['refs/heads/main', to] as const)];
  const updates = tips.map(([ref, to]) => ({ ref, from: null, to }));
  // All of its objects are new.
  const { violations } = await checkPush(rules, { dir, quarantine: join(dir, 'objects') }, updates, null);
  if (violations[0]) throw refused(`its ${repository} repository is not valid: ${sentence(violations[0])}`);
}

/** `aside` is the temporary path, `place` the final one. */
export type Made = { aside: string; place: string };

/** Creates them at temporary paths for `act` to move them, and then removes those that were not moved. */
export async function withRepositories<T>(
  { config, clock }: Deps,
  { document, path }: Unpacked,
  act: (made: readonly Made[]) => Promise<T>,
): Promise<T> {
  const { repositoriesDir } = config;
  if (repositoriesDir === undefined) throw new ExportFault('This installation has no repositories.');
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
      if (repository === 'source') await updatePlatformFiles(aside, refs, { config, clock });
    }
    return await act(made);
  } finally {
    for (const { aside } of made) await rm(aside, { recursive: true, force: true });
  }
}

/** Replaces the archive's platform files with this installation's, so that clones install the right packages. */
async function updatePlatformFiles(dir: string, refs: Refs, { config, clock }: Deps): Promise<void> {
  const changes = [...platformFiles()].map(([path, bytes]) => ({ path, bytes }));
  const author = { name: 'Frontage', email: `frontage@${config.baseDomain}` };
  const message = 'Use the platform’s packages';
  const at = clock.now();
  for (const [ref, parent] of Object.entries(refs)) {
    if (await hasPlatformFiles(dir, parent)) continue;
    if ((await writeCommit({ dir }, { ref, parent, message, author, at, changes })) === null)
      throw new Error('a branch of the new repository changed during the import');
  }
}

async function hasPlatformFiles(dir: string, commit: string): Promise<boolean> {
  const wanted = readPlatformFiles();
  const found = (await listCommit({ dir }, commit)).filter(({ path, oid }) => wanted.get(path) === oid);
  return found.length === wanted.size;
}

/** Renames each. Throws ExportFault if a path exists; then none is moved. */
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
      'A repository of this site already exists, but the site does not. Repositories left behind by an interrupted import are deleted after a day. Nothing has been changed.',
    );
  }
}

/** Undoes `place` for these repositories only. */
export async function takeBack(placed: readonly Made[]): Promise<void> {
  for (const { aside, place } of placed) await rename(place, aside);
}
