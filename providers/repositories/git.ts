/** Runs the machine's `git` on one bare repository, in an environment built from scratch. */
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type ExitResult, type SpawnedProcess, spawnByHelper, writeWithBackpressure } from '#providers/spawn-helper.ts';
import { findGit } from './find-git.ts';

/**
 * A repository for git: its folder, and the folder with the objects of a push that is not accepted yet. `limits` are
 * those of every process; `watch` is called with each that starts.
 */
export type Place = {
  dir: string;
  quarantine?: string;
  limits?: ProcessLimits;
  watch?: (child: SpawnedProcess) => void;
};

/** CPU time and wall time of one process, its memory besides mapped files, and its output where it is collected. */
export type ProcessLimits = { cpuSeconds: number; wallMs: number; dataMebibytes: number; outputMebibytes: number };

/** What a request may use that waits for git. */
export const usualLimits: ProcessLimits = { cpuSeconds: 60, wallMs: 120_000, dataMebibytes: 256, outputMebibytes: 64 };

/** What maintenance and backups may use: they process all objects of a repository. */
export const maintenanceLimits: ProcessLimits = {
  cpuSeconds: 7200,
  wallMs: 14_400_000,
  dataMebibytes: 2048,
  outputMebibytes: 1024,
};

/** git was stopped because it used more time or memory than it may. */
export class GitLimitReached extends Error {}

/** Throws unless this is the full id of an object, so that git cannot take it for an option or a range. */
export function assertSha(sha: string): void {
  if (!/^[0-9a-f]{40}$/.test(sha)) throw new Error('not a git object id');
}

export const hooksDir = resolve(import.meta.dirname, '../../git/hooks');

// Set in the environment and not in the repository's config file, so that a change applies to all repositories at once
// and nothing inside a repository is trusted.
const settings: Record<string, string> = {
  'safe.directory': '*',
  'core.hooksPath': hooksDir,
  'core.fsync': 'objects,derived-metadata,reference',
  'core.fsyncMethod': 'batch',
  // A merge matches each file by its own path: a folder renamed on one side does not move files of the other.
  'merge.directoryRenames': 'false',
  // Larger blobs are streamed and not deltified: a blob that inflates to gigabytes does not fill the memory.
  'core.bigFileThreshold': '8m',
  'core.packedGitLimit': '256m',
  'core.deltaBaseCacheLimit': '32m',
  'pack.threads': '1',
  'pack.windowMemory': '32m',
  'pack.deltaCacheSize': '32m',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'transfer.fsckObjects': 'true',
  'transfer.advertiseSID': 'false',
  'protocol.allow': 'never',
  'receive.advertisePushOptions': 'false',
  'receive.autogc': 'false',
  'receive.denyDeletes': 'true',
  'receive.updateServerInfo': 'false',
  // The push rules check these themselves, in every tree of every new commit, and name the file.
  'receive.fsck.hasDot': 'ignore',
  'receive.fsck.hasDotdot': 'ignore',
  'receive.fsck.hasDotgit': 'ignore',
  'uploadpack.allowFilter': 'true',
  // Other filters walk a folder again for each place that it is in.
  'uploadpackfilter.allow': 'false',
  'uploadpackfilter.blob:none.allow': 'true',
  'uploadpackfilter.blob:limit.allow': 'true',
  'uploadpackfilter.tree.allow': 'true',
  'uploadpackfilter.tree.maxDepth': '0',
  'uploadpack.allowAnySHA1InWant': 'false',
  'uploadpack.allowReachableSHA1InWant': 'true',
};

/** Messages of fsck about histories that old programs wrote, and that harm nobody. */
export const historicFaults = [
  'missingNameBeforeEmail',
  'missingSpaceBeforeEmail',
  'missingEmail',
  'badEmail',
  'badName',
  'missingSpaceBeforeDate',
  'badDate',
  'badDateOverflow',
  'badTimezone',
  'zeroPaddedDate',
  'multipleAuthors',
  'nulInCommit',
  'zeroPaddedFilemode',
  'badFilemode',
];

/** The whole environment of a git process. `extra` are further settings, as for `git -c`. */
export function gitEnvironment(extra: Record<string, string> = {}): Record<string, string> {
  const all = Object.entries({ ...settings, ...extra });
  const environment: Record<string, string> = {
    PATH: findGit().path,
    HOME: '/nonexistent',
    LC_ALL: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    // For reflogs: git would look up the machine's name.
    GIT_COMMITTER_NAME: 'platform',
    GIT_COMMITTER_EMAIL: 'platform',
    GIT_CONFIG_COUNT: String(all.length),
  };
  for (const [index, [key, value]] of all.entries()) {
    environment[`GIT_CONFIG_KEY_${index}`] = key;
    environment[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return environment;
}

/** The command with these limits, as program and arguments. The shell replaces itself with the command at once. */
export function withinLimits(
  command: readonly string[],
  { cpuSeconds, dataMebibytes }: Pick<ProcessLimits, 'cpuSeconds' | 'dataMebibytes'>,
): [program: string, args: string[]] {
  const limits = `ulimit -t ${Math.max(1, Math.ceil(cpuSeconds))} && ulimit -d ${dataMebibytes * 1024}`;
  return ['/bin/sh', ['-c', `${limits} && exec "$@"`, 'sh', ...command]];
}

const environment = gitEnvironment();

/** Starts git on a repository, within the limits of the place. The caller must end it. */
export async function spawnGit(
  place: Place,
  args: string[],
  extra: Record<string, string> = {},
): Promise<SpawnedProcess> {
  const env: Record<string, string> = { ...environment, ...extra, GIT_DIR: place.dir };
  if (place.quarantine !== undefined) {
    env.GIT_OBJECT_DIRECTORY = place.quarantine;
    env.GIT_ALTERNATE_OBJECT_DIRECTORIES = `${place.dir}/objects`;
    env.GIT_QUARANTINE_PATH = place.quarantine;
  }
  const limits = place.limits ?? usualLimits;
  const child = await spawnByHelper(...withinLimits(['git', ...args], limits), { env });
  const clock = setTimeout(() => child.kill('SIGKILL'), limits.wallMs).unref();
  const over = () => clearTimeout(clock);
  child.exited.then(over, over);
  place.watch?.(child);
  return child;
}

/** The error for a git command that ended like this. */
export function failure(command: string, { status, stderr: words }: ExitResult): Error {
  const message = `git ${command} exited with ${status}: ${words}`;
  // Killed, or without memory.
  const isLimit = status === null || /out of memory|mmap failed/i.test(words);
  return isLimit ? new GitLimitReached(message) : new Error(message);
}

type Input = Iterable<Buffer | string> | AsyncIterable<Buffer | string>;

/**
 * Writes the input with backpressure and waits for the exit. If the input fails or the output is too large, kills the
 * process and throws.
 */
export async function finish(
  child: SpawnedProcess,
  input: Input,
  { outputMebibytes } = usualLimits,
): Promise<ExitResult & { stdout: Buffer }> {
  const finished = Promise.all([buffer(limited(child, outputMebibytes * 1_048_576)), child.exited]);
  finished.catch(() => {});
  try {
    for await (const chunk of input) await writeWithBackpressure(child.stdin, chunk);
    child.stdin.end();
  } catch (error) {
    child.kill('SIGKILL');
    await child.exited;
    throw error;
  }
  const [stdout, ending] = await finished;
  return { ...ending, stdout };
}

async function* limited(child: SpawnedProcess, bytesMax: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of child.stdout) {
    bytes += (chunk as Buffer).length;
    if (bytes > bytesMax) {
      child.kill('SIGKILL');
      throw new GitLimitReached('git wrote more than it may');
    }
    yield chunk as Buffer;
  }
}

/** Runs git to completion with `input` on its stdin. Throws unless the exit status is in `accept`. */
export async function runGit(
  place: Place,
  args: string[],
  options: { input?: Input; accept?: number[]; environment?: Record<string, string> } = {},
): Promise<{ status: number; stdout: Buffer }> {
  const child = await spawnGit(place, args, options.environment);
  const ended = await finish(child, options.input ?? [], place.limits);
  const { status, stdout } = ended;
  if (status === null || !(options.accept ?? [0]).includes(status)) throw failure(args[0] ?? '', ended);
  return { status, stdout };
}

/** Stdout of a git process, chunk by chunk. Throws at the end if git failed; kills git if the reader stops early. */
export async function* streamGit(
  place: Place,
  args: string[],
  extra: Record<string, string> = {},
): AsyncGenerator<Buffer> {
  const child = await spawnGit(place, args, extra);
  child.stdin.end();
  try {
    for await (const chunk of child.stdout) yield chunk as Buffer;
    const ended = await child.exited;
    if (ended.status !== 0) throw failure(args[0] ?? '', ended);
  } finally {
    child.kill('SIGKILL');
  }
}
