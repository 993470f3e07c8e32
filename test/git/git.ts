/** The real `git` command as a pusher has it, away from the machine's own settings. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { makeFolder } from '#test/stack/database.ts';

export type Ended = { status: number | null; stdout: string; stderr: string };

/** Runs git in a folder to its end, whatever that is. */
export function tryGit(
  cwd: string,
  args: string[],
  input: string | Buffer = '',
  env: Record<string, string> = {},
): Promise<Ended> {
  const child = spawn('git', args, {
    cwd,
    env: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      HOME: '/nonexistent',
      LC_ALL: 'C.UTF-8',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_AUTHOR_NAME: 'Bo',
      GIT_AUTHOR_EMAIL: 'bo@example.com',
      GIT_COMMITTER_NAME: 'Bo',
      GIT_COMMITTER_EMAIL: 'bo@example.com',
      ...env,
    },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  return new Promise((done, failed) => {
    child.on('error', failed);
    child.on('close', (status) => done({ status, stdout, stderr }));
  });
}

/** Runs git, which has to end well. Answers stdout without the last line's end. */
export async function git(
  cwd: string,
  args: string[],
  input: string | Buffer = '',
  env: Record<string, string> = {},
): Promise<string> {
  const { status, stdout, stderr } = await tryGit(cwd, args, input, env);
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
  return stdout.trimEnd();
}

/** A folder that goes away when the test is over (`await using`). */
export async function folder(): Promise<{ path: string; [Symbol.asyncDispose](): Promise<void> }> {
  const path = await makeFolder('frontage-clone-');
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Writes files into a work tree and commits them. */
export async function commitFiles(clone: string, files: Record<string, string | Buffer>): Promise<void> {
  for (const [path, bytes] of Object.entries(files)) {
    await mkdir(dirname(join(clone, path)), { recursive: true });
    await writeFile(join(clone, path), bytes);
  }
  await git(clone, ['add', '--all', '--force']);
  await git(clone, ['commit', '--quiet', '--message', 'Change']);
}

/** A file of a hand-made tree: any name and any mode. `raw` is the path in bytes, where it is no UTF-8. */
export type AnyFile = { path: string; raw?: Buffer; mode?: string; bytes?: string | Buffer; oid?: string };

type Entry = { name: Buffer; mode: string; oid: string };

/** Writes an object as a loose file, whatever is in it. Answers its id. */
export async function writeObject(
  clone: string,
  type: 'blob' | 'tree' | 'commit' | 'tag',
  bytes: string | Buffer,
): Promise<string> {
  const body = Buffer.from(bytes as string);
  const whole = Buffer.concat([Buffer.from(`${type} ${body.length}\0`), body]);
  const oid = createHash('sha1').update(whole).digest('hex');
  const path = join(clone, '.git/objects', oid.slice(0, 2), oid.slice(2));
  await mkdir(dirname(path), { recursive: true });
  // git keeps its objects read-only.
  if (!existsSync(path)) await writeFile(path, deflateSync(whole));
  return oid;
}

/** Writes the tree objects byte by byte, with names that git's own commands would not take. Answers the root's id. */
export async function writeTree(clone: string, files: readonly AnyFile[]): Promise<string> {
  const folders = new Map<string, AnyFile[]>();
  const entries: Entry[] = [];
  for (const file of files) {
    const slash = file.raw ? -1 : file.path.indexOf('/');
    if (slash === -1) {
      const oid = file.oid ?? (await writeObject(clone, 'blob', file.bytes ?? ''));
      entries.push({ name: file.raw ?? Buffer.from(file.path), mode: file.mode ?? '100644', oid });
    } else {
      const name = file.path.slice(0, slash);
      folders.set(name, [...(folders.get(name) ?? []), { ...file, path: file.path.slice(slash + 1) }]);
    }
  }
  for (const [name, inside] of folders) {
    entries.push({ name: Buffer.from(name), mode: '40000', oid: await writeTree(clone, inside) });
  }
  const key = ({ name, mode }: Entry) => (mode === '40000' ? Buffer.concat([name, Buffer.from('/')]) : name);
  return writeRawTree(
    clone,
    entries.sort((a, b) => Buffer.compare(key(a), key(b))),
  );
}

/** Writes one tree object with its entries in the order given. */
export function writeRawTree(clone: string, entries: readonly Entry[]): Promise<string> {
  const parts = entries.flatMap(({ name, mode, oid }) => [
    Buffer.from(`${mode} `),
    name,
    Buffer.from([0]),
    Buffer.from(oid, 'hex'),
  ]);
  return writeObject(clone, 'tree', Buffer.concat(parts));
}

/** Commits a tree without touching the work tree. Answers the commit. */
export function commitTree(clone: string, tree: string, parents: readonly string[]): Promise<string> {
  const who = 'Bo <bo@example.com> 1795219200 +0000';
  const lines = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`), `author ${who}`, `committer ${who}`];
  return writeObject(clone, 'commit', `${lines.join('\n')}\n\nChange\n`);
}
