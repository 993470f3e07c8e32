/** Reads trees, files and history from a bare repository. */
import { type Place, runGit, streamGit } from './git.ts';

/**
 * One file of a tree. `path` contains U+FFFD where its bytes are not UTF-8; `bytes` is 0 for an entry that is not a
 * file (mode 160000).
 */
export type TreeEntry = { path: string; oid: string; bytes: number; mode: string };

/** A file's content, streamed from git. It must be read before the next one is requested; unread bytes are skipped. */
export type Blob = { oid: string; bytes: number; content: AsyncIterable<Buffer> };

export type CommitLine = { sha: string; subject: string; author: string; at: Date };

/** A path that differs between two trees; `oid` and `mode` are those of the newer, null if it is gone. */
export type Difference = { path: string; oid: string | null; mode: string | null };

const shaPattern = /^[0-9a-f]{40}$/;

/** Throws unless this is the full id of an object, so that git cannot take it for an option or a range. */
export function assertSha(sha: string): void {
  if (!shaPattern.test(sha)) throw new Error('not a git object id');
}

/** Splits at NUL bytes. Bytes after the last one are dropped: git ends every record with NUL. */
async function* records(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = all.indexOf(0); end !== -1; end = all.indexOf(0, start)) {
      yield all.toString('utf8', start, end);
      start = end + 1;
    }
    rest = all.subarray(start);
  }
}

/** Every file of a commit, one by one, in git's order: a reader can stop at any size of tree. */
export async function* walkTree(place: Place, commit: string): AsyncGenerator<TreeEntry> {
  assertSha(commit);
  for await (const record of records(streamGit(place, ['ls-tree', '-r', '-l', '-z', '--full-tree', commit]))) {
    const tab = record.indexOf('\t');
    const [mode = '', , oid = '', size = ''] = record.slice(0, tab).split(/ +/);
    // `-` for an entry that is not a file, `BAD` for one whose bytes are lost.
    yield { path: record.slice(tab + 1), oid, bytes: /^\d+$/.test(size) ? Number(size) : 0, mode };
  }
}

// Every difference, whatever a file in the repository says about submodules.
const rawFormat = ['-r', '-z', '--raw', '--no-renames', '--no-abbrev', '--ignore-submodules=none'];

/** The differences between two commits' trees; every file if `from` is null. */
export async function diffTrees(place: Place, from: string | null, to: string): Promise<Difference[]> {
  assertSha(to);
  if (from !== null) assertSha(from);
  // Every git knows the id of the empty tree.
  const base = from ?? '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
  return rawDifferences(streamGit(place, ['diff-tree', ...rawFormat, base, to]));
}

/** One step through a history: a commit, or a difference between the commit before it and its parent. */
export type HistoryStep = { commit: string; parents: string[] } | Difference;

/**
 * The differences made by commits that no branch contains yet, intermediate ones included, each after its commit.
 * Commits that change nothing are left out; a merge has one step for each parent.
 */
export async function* walkHistory(place: Place, commit: string): AsyncGenerator<HistoryStep> {
  assertSha(commit);
  const args = ['log', '-m', '--root', ...rawFormat, '--format=%H %P', commit, '--not', '--all'];
  let header: string | undefined;
  for await (const record of records(streamGit(place, args))) {
    if (header !== undefined) {
      yield difference(header, record);
      header = undefined;
    } else if (/^\n?:/.test(record)) {
      header = record;
    } else {
      const [name = '', ...parents] = record.trim().split(' ');
      yield { commit: name, parents };
    }
  }
}

async function rawDifferences(chunks: AsyncIterable<Buffer>): Promise<Difference[]> {
  const found: Difference[] = [];
  let header: string | undefined;
  for await (const record of records(chunks)) {
    if (header !== undefined) found.push(difference(header, record));
    header = header === undefined ? record : undefined;
  }
  return found;
}

/** Parses git's two records of a difference: `:<modes> <ids> <status>`, and the path. */
function difference(header: string, path: string): Difference {
  const [, mode = '', , oid = '', status] = header.split(' ');
  return status === 'D' ? { path, oid: null, mode: null } : { path, oid, mode };
}

export async function isAncestor(place: Place, ancestor: string, commit: string): Promise<boolean> {
  assertSha(ancestor);
  assertSha(commit);
  const { status } = await runGit(place, ['merge-base', '--is-ancestor', ancestor, commit], { accept: [0, 1] });
  return status === 0;
}

/** Commits in `to` but not in `from` (null or unknown: all), newest first. */
export async function readCommits(
  place: Place,
  range: { from: string | null; to: string; limit: number },
): Promise<CommitLine[]> {
  assertSha(range.to);
  if (range.from !== null) assertSha(range.from);
  const known = range.from !== null && (await hasObject(place, range.from, 'commit'));
  const args = ['log', '-z', '--format=%H%n%an%n%at%n%s', `--max-count=${range.limit}`, range.to];
  const { stdout } = await runGit(place, known ? [...args, `^${range.from}`] : args);
  return stdout
    .toString()
    .split('\0')
    .filter(Boolean)
    .map((record) => {
      const [sha = '', author = '', seconds = '0', ...subject] = record.split('\n');
      return { sha, author, at: new Date(Number(seconds) * 1000), subject: subject.join(' ') };
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
  for (const oid of oids) assertSha(oid);
  if (oids.length === 0) return;
  const input = `${oids.join('\n')}\n`;
  const source = reader(streamGit(place, ['cat-file', '--batch', '--buffer'], input));
  try {
    for (const oid of oids) {
      const [, type, size = ''] = (await source.line()).split(' ');
      if (type !== 'blob') throw new Error(`object ${oid} is not a file in this repository`);
      const bytes = Number(size);
      const content = source.take(bytes);
      yield { oid, bytes, content };
      // Skips what the consumer did not read before the next header.
      for await (const _ of content);
      await source.skip(1);
    }
  } finally {
    await source.close();
  }
}

/** The whole content of a blob, for blobs known to be small. */
export async function bytesOf(content: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Reads lines and counted bytes from one stream of chunks. */
function reader(chunks: AsyncGenerator<Buffer>) {
  let rest: Buffer = Buffer.alloc(0);
  async function more(): Promise<void> {
    const next = await chunks.next();
    if (next.done) throw new Error('git’s output ended before the object was complete');
    rest = rest.length === 0 ? next.value : Buffer.concat([rest, next.value]);
  }
  async function some(bytesMax: number): Promise<Buffer> {
    if (rest.length === 0) await more();
    const chunk = rest.subarray(0, bytesMax);
    rest = rest.subarray(chunk.length);
    return chunk;
  }
  return {
    async line(): Promise<string> {
      for (;;) {
        const end = rest.indexOf(10);
        if (end !== -1) return (await some(end + 1)).toString('utf8', 0, end);
        await more();
      }
    },
    async skip(bytes: number): Promise<void> {
      for (let left = bytes; left > 0; ) left -= (await some(left)).length;
    },
    /** The next `bytes` bytes. A second iteration continues where the first stopped. */
    take(bytes: number): AsyncIterable<Buffer> {
      let left = bytes;
      return {
        async *[Symbol.asyncIterator]() {
          while (left > 0) {
            const chunk = await some(left);
            left -= chunk.length;
            yield chunk;
          }
        },
      };
    },
    close: () => chunks.return(undefined),
  };
}
