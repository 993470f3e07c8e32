/**
 * The names that `[branches]` of `frontage.toml` gives to preview slots. In a repository, such a name is a symbolic ref to
 * the slot's own branch: git moves that one when the name is pushed, and a clone shows both.
 */
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Place, runGit } from '#providers/repositories/git.ts';
import { isBranch, type Repositories } from '#providers/repositories.ts';
import type { Address } from './access.ts';
import type { RefUpdate } from './push.ts';
import { settingsOfMain } from './settings.ts';

const heads = 'refs/heads/';
const slotRef = (slot: number) => `${heads}preview/${slot}`;

/**
 * Gives a repository the names of `main`'s tip, and removes others. Called before git lists the branches for a push: a client
 * cannot push to a name that begins to be another branch's in between.
 */
export async function nameBranches(repositories: Repositories, { siteId, repository }: Address): Promise<void> {
  const { branches } = await settingsOfMain(repositories, siteId);
  const place = repositories.place(siteId, repository);
  const before = await namesIn(place);
  if (branches.size === 0 && before.size === 0) return;
  for (const name of before.keys())
    if (!branches.has(name)) await runGit(place, ['symbolic-ref', '--delete', heads + name], { accept: [0, 1, 128] });
  for (const [name, slot] of branches)
    if (before.get(name) !== slotRef(slot)) await runGit(place, ['symbolic-ref', heads + name, slotRef(slot)]);
}

/** The symbolic refs below `refs/heads/`, with what they name. Reads git's files backend. */
async function namesIn({ dir }: Place): Promise<Map<string, string>> {
  const root = join(dir, heads);
  await mkdir(root, { recursive: true });
  const names = new Map<string, string>();
  for (const path of await readdir(root, { recursive: true })) {
    if (isBranch(path)) continue;
    const [, target] = /^ref: (\S+)\n?$/.exec(await readFile(join(root, path), 'utf8').catch(() => '')) ?? [];
    if (target) names.set(path, target);
  }
  return names;
}

/** The updates of a push by the branches that they move, without its tags. */
export type Resolved = { updates: RefUpdate[]; tags: string[]; freeSlot: number | undefined };

/** Resolves the names of slots. `freeSlot` has no branch and no name; it is looked for if the push has a name that no slot has. */
export async function resolveRefs(
  repositories: Repositories,
  { siteId, repository }: Address,
  updates: readonly RefUpdate[],
  slots: number,
): Promise<Resolved> {
  const isTag = ({ ref }: RefUpdate) => ref.startsWith('refs/tags/');
  const tags = updates.filter(isTag).map(({ ref }) => ref);
  const pushed = updates.filter((update) => !isTag(update));
  const isNamed = ({ ref }: RefUpdate) => ref.startsWith(heads) && !isBranch(ref.slice(heads.length));
  if (!pushed.some(isNamed)) return { updates: pushed, tags, freeSlot: undefined };
  const { branches } = await settingsOfMain(repositories, siteId);
  const names = await namesIn(repositories.place(siteId, repository));
  const resolved = pushed.map((update) => {
    const slot = isNamed(update) ? branches.get(update.ref.slice(heads.length)) : undefined;
    // The names may have changed since the push began.
    const isSame = slot !== undefined && names.get(update.ref.slice(heads.length)) === slotRef(slot);
    return isSame ? { ...update, ref: slotRef(slot) } : update;
  });
  return { updates: resolved, tags, freeSlot: await freeSlotOf(repositories, siteId, slots, [...branches.values()]) };
}

async function freeSlotOf(
  repositories: Repositories,
  siteId: string,
  slots: number,
  named: readonly number[],
): Promise<number | undefined> {
  for (let slot = 1; slot <= slots; slot += 1) {
    if (named.includes(slot)) continue;
    const inUse = await Promise.all(
      (['source', 'content'] as const).map((repository) => repositories.head(siteId, repository, `preview/${slot}`)),
    );
    if (inUse.every((commit) => commit === null)) return slot;
  }
  return undefined;
}
