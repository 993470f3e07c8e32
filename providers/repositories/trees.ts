/**
 * Sizes the tree of a commit before it is listed. A pack of a few kilobytes can contain a tree whose list would never
 * end, because the same folder can be in many places: each folder is read once, by its id, and counted where it occurs.
 */
import { pathBytesMax } from '#providers/paths.ts';
import { startSlices } from '#runtime/slices.ts';
import { type ObjectReader, OversizedObject } from './object-reader.ts';

/**
 * One file of a tree. `path` contains U+FFFD where its bytes are not UTF-8; `bytes` is 0 for an entry that is not a
 * file (mode 160000).
 */
export type TreeEntry = { path: string; oid: string; bytes: number; mode: string };

/** The limits of a tree, all of them together with those of every tree below. */
export type TreeLimits = { files: number; bytes: number };

/** Why a tree is too large to be listed, or has an empty folder; `path` is the folder, undefined for the whole. */
export type TreeExcess = { limit: 'files' | 'folders' | 'bytes' | 'path' | 'empty'; path?: string };

/** A name in a folder. `mode` is as in the tree object; `isFolder` for another tree. */
export type Entry = { name: string; mode: string; oid: string; isFolder: boolean };

/** All folders of a commit, by their ids. */
export type Tree = { root: string; folders: Map<string, Entry[]> };

/** The number of folders that a site may have for each of its files. */
export const foldersPerFile = 4;
// Each folder adds two bytes to a path.
const foldersDeepMax = pathBytesMax / 2;
export const treeBytesMax = 16_777_216;

/** A tree that is within the limits, with the sizes of its files by id; or the limit that it exceeds. */
export async function readTree(
  reader: ObjectReader,
  root: string,
  limits: TreeLimits,
): Promise<{ tree: Tree; sizes: Map<string, number> } | { excess: TreeExcess }> {
  const found = await readFolders(reader, root, limits);
  if ('excess' in found) return found;
  const excess = await findExcess(found.tree, limits, undefined);
  if (excess) return { excess };
  const sizes = await readSizes(reader, found.tree);
  const tooLarge = await findExcess(found.tree, limits, sizes);
  return tooLarge ? { excess: tooLarge } : { tree: found.tree, sizes };
}

/** Reads each folder once, level by level. Stops as soon as a limit is exceeded. */
async function readFolders(
  reader: ObjectReader,
  root: string,
  limits: TreeLimits,
): Promise<{ tree: Tree } | { excess: TreeExcess }> {
  const folders = new Map<string, Entry[]>();
  const places = new Map<string, string>([[root, '']]);
  const entriesMax = (foldersPerFile + 1) * limits.files;
  const pause = startSlices();
  let [level, files, bytes] = [[root], 0, 0];
  try {
    for (let depth = 0; level.length > 0; depth++) {
      if (depth > foldersDeepMax) return { excess: { limit: 'path', path: places.get(level[0] ?? '') ?? '' } };
      const below: string[] = [];
      for await (const { oid, data } of reader.wholes(level, treeBytesMax - bytes)) {
        const path = places.get(oid) ?? '';
        const entries = await parseTree(data, entriesMax);
        bytes += data.length;
        if (entries.length === 0 && oid !== root) return { excess: { limit: 'empty', path } };
        folders.set(oid, entries);
        for (const entry of entries) {
          await pause();
          if (!entry.isFolder) files += 1;
          else if (!places.has(entry.oid)) {
            places.set(entry.oid, path === '' ? entry.name : `${path}/${entry.name}`);
            below.push(entry.oid);
          }
        }
        if (files > limits.files || entries.length > entriesMax) return { excess: { limit: 'files' } };
        if (places.size > foldersPerFile * limits.files) return { excess: { limit: 'folders' } };
        if (path.length > pathBytesMax) return { excess: { limit: 'path', path } };
      }
      level = below;
    }
  } catch (error) {
    if (error instanceof OversizedObject) return { excess: { limit: 'files' } };
    throw error;
  }
  return { tree: { root, folders } };
}

/** The entries of a tree object, `<mode> <name>` NUL and the 20 bytes of an id: all, or one more than `entriesMax`. */
export async function parseTree(data: Buffer, entriesMax = Number.POSITIVE_INFINITY): Promise<Entry[]> {
  const entries: Entry[] = [];
  const pause = startSlices();
  for (let at = 0; at < data.length && entries.length <= entriesMax; ) {
    const space = data.indexOf(32, at);
    const end = data.indexOf(0, space);
    const mode = data.toString('latin1', at, space);
    const name = data.toString('utf8', space + 1, end);
    entries.push({ name, mode, oid: data.toString('hex', end + 1, end + 21), isFolder: /^0?40000$/.test(mode) });
    at = end + 21;
    await pause();
  }
  return entries;
}

/** The names in a tree object. */
export function* namesOf(data: Buffer): Generator<string> {
  for (let at = 0; at < data.length; ) {
    const space = data.indexOf(32, at);
    const end = data.indexOf(0, space);
    yield data.toString('utf8', space + 1, end);
    at = end + 21;
  }
}

type Totals = { files: number; folders: number; bytes: number; height: number; longest: number };

/** Counts everything below each folder, and checks the sums. Without sizes, bytes are not counted. */
async function findExcess(
  { root, folders }: Tree,
  limits: TreeLimits,
  sizes: ReadonlyMap<string, number> | undefined,
): Promise<TreeExcess | undefined> {
  const pause = startSlices();
  const known = new Map<string, Totals>();
  let tooDeep: string | undefined;
  async function count(oid: string, path: string, depth: number): Promise<Totals> {
    const before = known.get(oid);
    const totals = before ?? { files: 0, folders: 0, bytes: 0, height: 0, longest: 0 };
    if (depth + totals.height > foldersDeepMax) tooDeep ??= path;
    if (before || tooDeep !== undefined) return totals;
    for (const { name, oid: id, isFolder } of folders.get(oid) ?? []) {
      await pause();
      const below = isFolder ? await count(id, path === '' ? name : `${path}/${name}`, depth + 1) : undefined;
      totals.files += below?.files ?? 1;
      totals.folders += below ? below.folders + 1 : 0;
      totals.bytes += below?.bytes ?? sizes?.get(id) ?? 0;
      totals.height = Math.max(totals.height, below ? below.height + 1 : 0);
      totals.longest = Math.max(totals.longest, Buffer.byteLength(name) + (below ? below.longest + 1 : 0));
    }
    known.set(oid, totals);
    return totals;
  }
  const all = await count(root, '', 0);
  if (tooDeep !== undefined) return { limit: 'path', path: tooDeep };
  if (all.files > limits.files) return { limit: 'files' };
  if (all.folders > foldersPerFile * limits.files) return { limit: 'folders' };
  if (all.longest > pathBytesMax) return { limit: 'path', path: longestPath({ root, folders }, known) };
  return all.bytes > limits.bytes ? { limit: 'bytes' } : undefined;
}

function longestPath({ root, folders }: Tree, known: ReadonlyMap<string, Totals>): string {
  const names: string[] = [];
  for (let oid: string | undefined = root; oid !== undefined; ) {
    const length = ({ name, oid: id, isFolder }: Entry) =>
      Buffer.byteLength(name) + (isFolder ? (known.get(id)?.longest ?? 0) + 1 : 0);
    const longest: Entry | undefined = (folders.get(oid) ?? []).toSorted((a, b) => length(b) - length(a))[0];
    if (longest) names.push(longest.name);
    oid = longest?.isFolder ? longest.oid : undefined;
  }
  return names.join('/');
}

async function readSizes(reader: ObjectReader, { folders }: Tree): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  const pause = startSlices();
  for (const entries of folders.values()) {
    for (const { oid, mode, isFolder } of entries) {
      if (!isFolder && mode !== '160000') sizes.set(oid, 0);
      await pause();
    }
  }
  for await (const { oid, bytes } of reader.infos([...sizes.keys()])) {
    sizes.set(oid, bytes);
    await pause();
  }
  return sizes;
}

/** Every file of a tree that is within its limits, in git's order. */
export async function listFiles({ root, folders }: Tree, sizes: ReadonlyMap<string, number>): Promise<TreeEntry[]> {
  const files: TreeEntry[] = [];
  const pause = startSlices();
  async function list(oid: string, prefix: string): Promise<void> {
    for (const { name, mode, oid: id, isFolder } of folders.get(oid) ?? []) {
      await pause();
      if (isFolder) await list(id, `${prefix}${name}/`);
      else files.push({ path: prefix + name, oid: id, bytes: sizes.get(id) ?? 0, mode });
    }
  }
  await list(root, '');
  return files;
}

// Enough for 20,000 parents. A commit's message has any length.
const commitHeadMax = 1_048_576;

/** The tree of a commit and its parents, as far as they are at its beginning. */
export async function readCommit(reader: ObjectReader, oid: string): Promise<{ tree: string; parents: string[] }> {
  let text = '';
  for await (const { content } of reader.contents([oid])) {
    for await (const chunk of content) {
      text += chunk.toString('latin1');
      if (text.length > commitHeadMax || text.includes('\nauthor ')) break;
    }
  }
  const [, tree, lines = ''] = /^tree ([0-9a-f]{40})\n((?:parent [0-9a-f]{40}\n)*)/.exec(text) ?? [];
  if (tree === undefined) throw new Error(`object ${oid} is not a commit`);
  return { tree, parents: lines.split('\n').flatMap((line) => (line === '' ? [] : [line.slice('parent '.length)])) };
}
