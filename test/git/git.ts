/** The real `git` command as a pusher has it, away from the machine's own settings. */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

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
  const path = await mkdtemp(join(tmpdir(), 'frontage-clone-'));
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

/** What a tree entry may hold in a hostile tree: bytes under any name and mode, or a tree inside. */
export type HostileEntry = {
  name: string;
  mode?: string;
  bytes?: string | Buffer;
  oid?: string;
  tree?: HostileEntry[];
};

/** Writes a tree object byte by byte, with names and modes that git's own commands would not take. Answers its id. */
export async function writeTree(clone: string, entries: HostileEntry[]): Promise<string> {
  const parts: { sort: Buffer; raw: Buffer }[] = [];
  for (const { name, mode, bytes = '', oid, tree } of entries) {
    const id = oid ?? (tree ? await writeTree(clone, tree) : await git(clone, ['hash-object', '-w', '--stdin'], bytes));
    const kind = mode ?? (tree ? '40000' : '100644');
    const named = Buffer.from(name, 'latin1');
    const raw = Buffer.concat([Buffer.from(`${kind} `), named, Buffer.from([0]), Buffer.from(id, 'hex')]);
    parts.push({ sort: tree || kind === '40000' ? Buffer.concat([named, Buffer.from('/')]) : named, raw });
  }
  parts.sort((a, b) => Buffer.compare(a.sort, b.sort));
  const all = Buffer.concat(parts.map((part) => part.raw));
  return git(clone, ['hash-object', '-w', '-t', 'tree', '--stdin', '--literally'], all);
}
