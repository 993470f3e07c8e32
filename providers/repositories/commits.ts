/** Writes commits to bare repositories with one `git fast-import` each: no work tree, no index, no hook. */
import { assertSha, failure, finish, gitEnvironment, type Place, runGit, spawnGit } from './git.ts';
import { sweepRepository } from './leftovers.ts';
import { callEnvironment, pushSettings } from './pushes.ts';

export type Identity = { name: string; email: string };
/** The author of a commit, who also commits it unless `committer` does. */
export type Author = Identity & { committer?: Identity };

type Mode = '100644' | '100755';

/** A file to write, or to remove if `bytes` is null. `oid` is an existing blob. `mode` defaults to '100644'. */
export type Change = { path: string; bytes: Buffer | null; mode?: Mode } | { path: string; oid: string; mode?: Mode };

export type NewCommit = {
  /** Full name of the branch, such as `refs/heads/main`. */
  ref: string;
  /** The parent commit, which must be the branch's tip; null for the first commit. */
  parent: string | null;
  message: string;
  author: Author;
  at: Date;
  changes: Change[];
  /** The id of the call that commits, by which its commit is found. */
  callId?: string | undefined;
};

/** The input for git-fast-import(1). */
function* stream(commit: NewCommit): Generator<Buffer | string> {
  const seconds = Math.floor(commit.at.getTime() / 1000);
  const { author } = commit;
  const who = ({ name, email }: Identity) => `${plain(name) || 'unknown'} <${plain(email)}> ${seconds} +0000`;
  const message = Buffer.from(commit.message);
  yield `feature done\ncommit ${commit.ref}\nmark :1\nauthor ${who(author)}\ncommitter ${who(author.committer ?? author)}\ndata ${message.length}\n`;
  yield message;
  yield commit.parent === null ? '\n' : `\nfrom ${commit.parent}\n`;
  for (const change of commit.changes) {
    const { path, mode = '100644' } = change;
    if ('oid' in change) {
      yield `M ${mode} ${change.oid} ${quoted(path)}\n`;
    } else if (change.bytes === null) {
      yield `D ${quoted(path)}\n`;
    } else {
      yield `M ${mode} inline ${quoted(path)}\ndata ${change.bytes.length}\n`;
      yield change.bytes;
      yield '\n';
    }
  }
  yield '\nget-mark :1\ndone\n';
}

/** A name for a commit: on one line, without the angle brackets that end it. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}<>]/gu, '').trim();
}

/** A path in git's C-style quotes. */
function quoted(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}

/** Writes a file's bytes, chunk by chunk, for a later commit. Returns their git id. */
export async function writeBlob(place: Place, content: AsyncIterable<Buffer>): Promise<string> {
  const args = ['hash-object', '-w', '--stdin', '--no-filters'];
  const { stdout } = await runGit(place, args, { input: content });
  return stdout.toString().trim();
}

/**
 * A first commit has all files of a site: their pack is kept as one file, which is written and synced faster than a file
 * for each object.
 */
const onePack = { 'fastimport.unpackLimit': '1' };

/**
 * Writes the commit and moves the branch to it. Returns its id; null, without a change, if the tip was not `parent`.
 */
export async function writeCommit(place: Place, commit: NewCommit): Promise<string | null> {
  if (commit.parent !== null) assertSha(commit.parent);
  const { callId } = commit;
  const settings = { ...(commit.parent === null ? onePack : {}), ...(callId === undefined ? {} : pushSettings) };
  const environment = { ...gitEnvironment(settings), ...(callId === undefined ? {} : callEnvironment(callId)) };
  const child = await spawnGit(place, ['fast-import', '--quiet', '--date-format=raw'], environment);
  const ended = await finish(child, stream(commit));
  const { status, stderr: words, stdout } = ended;
  // fast-import locks the branch, and moves it only to a commit that has the branch's tip in its history.
  if (status !== 0 && /^warning: Not updating /m.test(words)) return null;
  if (status !== 0 && /^error: cannot lock ref /m.test(words)) {
    await sweepRepository(place.dir);
    return null;
  }
  if (status !== 0) throw failure('fast-import', ended);
  return stdout.toString().trim();
}
