/** The differences between two trees. */
import { startSlices } from '#runtime/slices.ts';
import type { ObjectReader } from './object-reader.ts';
import { type Entry, parseTree, type Tree, treeBytesMax } from './trees.ts';

/** A path that differs between two trees; `oid` and `mode` are those of the newer, null if it is gone. */
export type Difference = { path: string; oid: string | null; mode: string | null };

type Pair = { prefix: string; before: string | undefined; after: string | undefined };

/**
 * The differences from the tree `from` to another; every file if `from` is null. Reads only folders of
 * `from` that differ. If equal folders are gone in several places, only the first one's files are returned.
 */
export async function compareTrees(reader: ObjectReader, from: string | null, to: Tree): Promise<Difference[]> {
  const differences: Difference[] = [];
  const earlier = new Map<string, Entry[]>();
  const gone = new Set<string>();
  const pause = startSlices();
  let level: Pair[] = [{ prefix: '', before: from ?? undefined, after: to.root }];
  while (level.length > 0) {
    const wanted = new Set(level.flatMap(({ before }) => (before && !earlier.has(before) ? [before] : [])));
    for await (const { oid, data } of reader.wholes([...wanted], treeBytesMax)) earlier.set(oid, await parseTree(data));
    const below: Pair[] = [];
    for (const pair of level) {
      const differing = await comparePair(pair, earlier, to.folders, differences, pause);
      below.push(...differing.filter(isNew));
    }
    level = below;
  }
  return differences;

  function isNew({ before, after }: Pair): boolean {
    if (after !== undefined || before === undefined) return true;
    return !gone.has(before) && gone.add(before).size > 0;
  }
}

/** Adds the files that differ, and returns the folders that do. */
async function comparePair(
  { prefix, before, after }: Pair,
  earlier: ReadonlyMap<string, Entry[]>,
  later: ReadonlyMap<string, Entry[]>,
  differences: Difference[],
  pause: () => Promise<void> | undefined,
): Promise<Pair[]> {
  const below: Pair[] = [];
  const old = new Map((before === undefined ? [] : (earlier.get(before) ?? [])).map((entry) => [entry.name, entry]));
  const enter = (name: string, one: Entry | undefined, other: Entry | undefined) => {
    const pair = { before: one?.isFolder ? one.oid : undefined, after: other?.isFolder ? other.oid : undefined };
    if (pair.before !== pair.after) below.push({ prefix: `${prefix}${name}/`, ...pair });
  };
  for (const entry of after === undefined ? [] : (later.get(after) ?? [])) {
    await pause();
    const { name, oid, mode } = entry;
    const same = old.get(name);
    old.delete(name);
    enter(name, same, entry);
    const isChanged = !same || same.isFolder || same.oid !== oid || same.mode !== mode;
    if (!entry.isFolder && isChanged) differences.push({ path: prefix + name, oid, mode });
    else if (entry.isFolder && same && !same.isFolder) differences.push({ path: prefix + name, oid: null, mode: null });
  }
  for (const entry of old.values()) {
    await pause();
    enter(entry.name, entry, undefined);
    if (!entry.isFolder) differences.push({ path: prefix + entry.name, oid: null, mode: null });
  }
  return below;
}
