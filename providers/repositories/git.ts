/** Runs the machine's `git` on one bare repository, in an environment built from scratch. */
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type ExitResult, type SpawnedProcess, spawnByHelper, writeWithBackpressure } from '#providers/spawn-helper.ts';

/** A repository for git: its folder, and the folder with the objects of a push that is not accepted yet. */
export type Place = { dir: string; quarantine?: string };

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
  'uploadpack.allowAnySHA1InWant': 'false',
  'uploadpack.allowReachableSHA1InWant': 'true',
};

/** The whole environment of a git process. `extra` are further settings, as for `git -c`. */
export function gitEnvironment(extra: Record<string, string> = {}): Record<string, string> {
  const all = Object.entries({ ...settings, ...extra });
  const environment: Record<string, string> = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: '/nonexistent',
    LC_ALL: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_CONFIG_COUNT: String(all.length),
  };
  for (const [index, [key, value]] of all.entries()) {
    environment[`GIT_CONFIG_KEY_${index}`] = key;
    environment[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return environment;
}

// Limits git's memory besides mapped files. The settings above stay far below it; a pack made to inflate fails here.
const dataKilobytesMax = 262_144;

/** The command with a memory limit, as program and arguments. The shell replaces itself with the command at once. */
export function withinMemory(command: readonly string[]): [program: string, args: string[]] {
  return ['/bin/sh', ['-c', `ulimit -d ${dataKilobytesMax} && exec "$@"`, 'sh', ...command]];
}

const environment = gitEnvironment();

/** Starts git on a repository. The caller must end it. */
export function spawnGit(place: Place, args: string[], extra: Record<string, string> = {}): Promise<SpawnedProcess> {
  const env: Record<string, string> = { ...environment, ...extra, GIT_DIR: place.dir };
  if (place.quarantine !== undefined) {
    env.GIT_OBJECT_DIRECTORY = place.quarantine;
    env.GIT_ALTERNATE_OBJECT_DIRECTORIES = `${place.dir}/objects`;
    env.GIT_QUARANTINE_PATH = place.quarantine;
  }
  return spawnByHelper('git', args, { env });
}

type Input = Iterable<Buffer | string> | AsyncIterable<Buffer | string>;

/** Writes the input with backpressure and waits for the exit. If the input fails, kills the process and rethrows. */
export async function finish(child: SpawnedProcess, input: Input): Promise<ExitResult & { stdout: Buffer }> {
  const finished = Promise.all([buffer(child.stdout), child.exited]);
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

/** Runs git to completion with `input` on its stdin. Throws unless the exit status is in `accept`. */
export async function runGit(
  place: Place,
  args: string[],
  options: { input?: Input; accept?: number[]; environment?: Record<string, string> } = {},
): Promise<{ status: number; stdout: Buffer }> {
  const child = await spawnGit(place, args, options.environment);
  const { status, stderr: words, stdout } = await finish(child, options.input ?? []);
  if (status === null || !(options.accept ?? [0]).includes(status)) {
    throw new Error(`git ${args[0]} exited with ${status}: ${words}`);
  }
  return { status, stdout };
}

/** Stdout of a git process, chunk by chunk. Throws at the end if git failed; kills git if the reader stops early. */
export async function* streamGit(place: Place, args: string[], input = ''): AsyncGenerator<Buffer> {
  const child = await spawnGit(place, args);
  child.stdin.end(input);
  try {
    for await (const chunk of child.stdout) yield chunk as Buffer;
    const { status, stderr: words } = await child.exited;
    if (status !== 0) throw new Error(`git ${args[0]} exited with ${status}: ${words}`);
  } finally {
    child.kill('SIGKILL');
  }
}
