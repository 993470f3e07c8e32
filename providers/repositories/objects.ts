/** Reads trees, files and history from a bare repository. */
import { errors } from '#runtime/errors.ts';
import { startSlices } from '#runtime/slices.ts';
import { assertSha, type Place, runGit, streamGit } from './git.ts';
import { bytesOf, type ObjectReader, openObjects } from './object-reader.ts';
import { listFiles, namesOf, parseTree, readCommit, readTree, type TreeEntry } from './trees.ts';

export { bytesOf, type TreeEntry };

/** A file's content, streamed from git. It must be read before the next one is requested; unread bytes are skipped. */
export type Blob = { oid: string; bytes: number; content: AsyncIterable<Buffer> };

export type CommitLine = { sha: string; subject: string; author: string; at: Date };

// Above the limits of every plan. An earlier commit of a history may have any tree.
const listLimits = { files: 100_000, bytes: Number.POSITIVE_INFINITY };

/** Every file of a commit, in git's order. Throws `plan_limit` for a commit with more files than any site may have. */
export async function listCommit(place: Place, commit: string): Promise<TreeEntry[]> {
  await using reader = await openObjects(place);
  const { tree: root } = await readCommit(reader, commit);
  const found = await readTree(reader, root, listLimits);
  if ('tree' in found) return await listFiles(found.tree, found.sizes);
  throw errors.plan_limit('This commit contains more files or folders than a site can have.', {
    nextAction: 'Use another commit, for example the newest one of main.',
  });
}

/** The objects of a push, or of a whole repository, as they are in its own folder of objects. */
export type NewObjects = {
  /** Bytes after decompression, without those that deltas add. */
  inflatedBytes: number;
  /** The size of the largest commit. */
  commitBytes: number;
  /** Ids of the trees, 20 bytes each. */
  trees: Buffer;
};

/** Lists the objects of the quarantine. Stops above `inflatedBytesMax`. */
export async function listNewObjects(
  { dir, quarantine, ...place }: Place,
  inflatedBytesMax: number,
): Promise<NewObjects> {
  const format = '--batch-check=%(objecttype) %(objectsize) %(deltabase) %(objectname)';
  const args = ['cat-file', '--batch-all-objects', '--unordered', format];
  const found: Buffer[] = [];
  let [inflatedBytes, commitBytes] = [0, 0];
  // Only the quarantine's own objects, without those of the repository.
  const own = { GIT_OBJECT_DIRECTORY: quarantine ?? `${dir}/objects` };
  for await (const line of lines(streamGit({ ...place, dir }, args, own))) {
    const [type, bytes, base, oid = ''] = line.split(' ');
    if (base === noObject) inflatedBytes += Number(bytes);
    if (type === 'commit') commitBytes = Math.max(commitBytes, Number(bytes));
    if (type === 'tree') found.push(Buffer.from(oid, 'hex'));
    if (inflatedBytes > inflatedBytesMax) break;
  }
  return { inflatedBytes, commitBytes, trees: Buffer.concat(found) };
}

const noObject = '0'.repeat(40);

async function* lines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of chunks) {
    const all = (rest + chunk.toString('latin1')).split('\n');
    rest = all.pop() ?? '';
    yield* all;
  }
}

const treeBytesMax = 16_777_216;
const idBytes = 20;
const idsAtOnce = 10_000;

/**
 * The first tree of these with a name that `isWanted`, and the name; undefined if there is none. Throws OversizedObject
 * for a tree of more than 16 MiB.
 */
export async function findName(
  reader: ObjectReader,
  trees: Buffer,
  isWanted: (name: string) => boolean,
): Promise<{ tree: string; name: string } | undefined> {
  const pause = startSlices();
  for (let at = 0; at < trees.length; at += idBytes * idsAtOnce) {
    const part = trees.toString('hex', at, at + idBytes * idsAtOnce).match(/.{40}/g) ?? [];
    for await (const { oid, data } of reader.wholes(part, treeBytesMax)) {
      for (const name of namesOf(data)) {
        if (isWanted(name)) return { tree: oid, name };
        await pause();
      }
    }
  }
  return undefined;
}

/**
 * The path of the first file below a name in a tree of the new commits; the name alone if they do not refer to the
 * tree.
 */
export async function locate(
  place: Place,
  commits: readonly string[],
  { tree, name }: { tree: string; name: string },
): Promise<string> {
  for (const commit of commits) assertSha(commit);
  const args = ['rev-list', '--objects', ...commits, '--not', '--all'];
  let path = name;
  for await (const line of lines(streamGit(place, args))) {
    if (!line.startsWith(tree)) continue;
    const folder = Buffer.from(line.slice(tree.length + 1), 'latin1').toString('utf8');
    path = folder === '' ? name : `${folder}/${name}`;
    break;
  }
  await using reader = await openObjects(place);
  let [within, wanted] = [tree, name];
  for (let depth = 0; depth < 64; depth++) {
    const { value } = await reader.wholes([within], treeBytesMax).next();
    const entry = value && (await parseTree(value.data)).find((one) => wanted === '' || one.name === wanted);
    if (!entry) break;
    if (wanted === '') path += `/${entry.name}`;
    if (!entry.isFolder) break;
    [within, wanted] = [entry.oid, ''];
  }
  return path;
}

/** Whether the history of `commit` contains `ancestor`. */
export async function isAncestor(place: Place, ancestor: string, commit: string): Promise<boolean> {
  assertSha(ancestor);
  assertSha(commit);
  const { status } = await runGit(place, ['merge-base', '--is-ancestor', ancestor, commit], { accept: [0, 1] });
  return status === 0;
}

// Columns. A commit's first line and its author's name have any length.
const subjectMax = 500;
const authorMax = 200;

/** Commits in `to` but not in `from` (null or unknown: all), newest first. */
export async function readCommits(
  place: Place,
  range: { from: string | null; to: string; limit: number },
): Promise<CommitLine[]> {
  assertSha(range.to);
  if (range.from !== null) assertSha(range.from);
  const format = `--format=%H%n%<(${authorMax},trunc)%an%n%at%n%<(${subjectMax},trunc)%s`;
  const commits = range.from === null ? [range.to] : [range.to, `^${range.from}`];
  const { stdout } = await runGit(place, [
    'log',
    '--ignore-missing',
    '-z',
    format,
    `--max-count=${range.limit}`,
    ...commits,
  ]);
  return stdout
    .toString()
    .split('\0')
    .filter(Boolean)
    .map((record) => {
      const [sha = '', author = '', seconds = '0', ...subject] = record.split('\n');
      const at = new Date(Number(seconds) * 1000);
      return { sha, author: author.trimEnd(), at, subject: subject.join(' ').trimEnd() };
    });
}

/** Whether the repository contains this object with this type. */
export async function hasObject(place: Place, oid: string, type: 'commit' | 'blob'): Promise<boolean> {
  assertSha(oid);
  const { status, stdout } = await runGit(place, ['cat-file', '-t', oid], { accept: [0, 128] });
  return status === 0 && stdout.toString().trim() === type;
}

/** The content of each blob in the given order, from one process, at most a chunk in memory at a time. */
export async function* readBlobs(place: Place, oids: readonly string[]): AsyncGenerator<Blob> {
  if (oids.length === 0) return;
  await using reader = await openObjects(place);
  for await (const { oid, type, bytes, content } of reader.contents(oids)) {
    if (type !== 'blob') throw new Error(`object ${oid} is not a file in this repository`);
    yield { oid, bytes, content };
  }
}
