/** What bubblewrap and namespaces have in common: builds as child processes, limited by control groups where we may set them. */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { constants, existsSync, statSync } from 'node:fs';
import { readFile, realpath, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type ControlGroup, findControlGroups } from './cgroups.ts';
import { dataKilobytes, exitOf, joinGroups, killer, limitData, limitFiles } from './child-process.ts';
import { containerSandbox } from './container-sandbox.ts';
import { makeImageFolder, type Progress, runnerCommand } from './image/image.ts';
import type { BuildLimits, Sandbox } from './sandbox.ts';
import { ownFilter } from './seccomp.ts';
import { type ContainerLimits, type WarmContainer, type WarmOptions, warmPurpose } from './warm-pool.ts';

const run = promisify(execFile);
const buildUser = '10001';
/** Programs of the system only: nothing in a folder of the caller. */
export const toolsEnv = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin' };
const trialLimits = { memoryBytes: 64 * 1_048_576, pidsMax: 256 };

export type ProcessSandboxOptions = {
  dataDir: string;
  /** Stable id of this installation. Two installations on one machine never touch each other's builds. */
  owner: string;
  onProgress: Progress;
  warn?: (text: string) => void;
  /** Sandboxes to start in advance; none by default. */
  warm?: WarmOptions | undefined;
};

/** Where a build runs: the image's folder, the command that makes it reachable, and the file of its system call filter if it has one. */
export type Place = { root: string; way: string[]; filter: string | undefined };
export type EnclosureLimits = Pick<BuildLimits, 'memoryBytes' | 'pidsMax'>;
/**
 * The command line that runs the words after it in the image, without network and privileges. It starts as the user of builds and is
 * replaced by the build or dies with it. Its file descriptor 3 is the filter.
 */
export type Enclosure = (place: Place, limits: EnclosureLimits) => string[];

/**
 * Creates the root file system if it is missing, tries the enclosures in order, and returns a sandbox of the first that works. They
 * differ in how they load a filter. `limitsProcesses` says that they limit processes without control groups too.
 */
export async function openProcessSandbox(
  kind: 'bubblewrap' | 'namespaces',
  options: ProcessSandboxOptions,
  enclosures: readonly Enclosure[],
  limitsProcesses = false,
): Promise<Sandbox> {
  if (process.platform !== 'linux') throw new Error('Namespaces are a part of Linux.');
  const image = await makeImageFolder(options.dataDir, options.onProgress);
  const root = await realpath(image.path);
  const { place, enclose } = await findWorking(root, await writeFilter(root), enclosures);
  if (!place.filter)
    options.warn?.('The system call filter cannot be loaded here: builds reach all of the kernel’s calls.');
  const groups = await findControlGroups(options.owner);
  if (!groups.limited) {
    const none = limitsProcesses ? 'memory' : 'memory and processes';
    options.warn?.(
      `Control groups are not available here: a build as a whole has no limit on ${none}. A process cannot reserve more than 3 GiB above the limit of memory.`,
    );
  }

  const start = async (purpose: string, limits: ContainerLimits) =>
    startContainer(enclose(place, limits), place, {
      group: await groups.make({ purpose, limits }),
      memoryBytes: groups.limited ? undefined : limits.memoryBytes,
    });

  return containerSandbox({
    kind,
    image: image.id,
    warm: options.warm,
    start,
    startWarm: (limits) => start(warmPurpose, limits),
    list: groups.list,
    close: groups.close,
  });
}

async function findWorking(root: string, filter: string | undefined, enclosures: readonly Enclosure[]) {
  let fault: unknown;
  // Without its filter a build is still enclosed; a sandbox that cannot enclose is none.
  const without: Place = { root, way: openWay(root), filter: undefined };
  for (const place of filter ? [{ ...without, filter }, without] : [without]) {
    for (const enclose of place.filter ? enclosures : enclosures.slice(0, 1)) {
      try {
        await attempt(enclose(place, trialLimits), place);
        return { place, enclose };
      } catch (error) {
        // A machine that was too busy for the trial says nothing about the filter.
        if ((error as { killed?: boolean }).killed) throw error;
        fault ??= error;
      }
    }
  }
  throw fault;
}

/** Runs Node in the enclosure, which tells what it may do. */
async function attempt(enclosed: string[], place: Place): Promise<void> {
  const status = "process.stdout.write(require('fs').readFileSync('/proc/self/status'))";
  const [program = '', ...args] = enter(enclosed, place, { groups: [] });
  const { stdout } = await run(program, [...args, 'node', '-e', status], { timeout: 20_000, env: toolsEnv, cwd: '/' });
  const told = (name: string) => new RegExp(`^${name}:\\s*(\\w+)`, 'm').exec(stdout)?.[1];
  const isHeld = /^0+$/.test(told('CapEff') ?? '') && /^0+$/.test(told('CapPrm') ?? '') && told('NoNewPrivs') === '1';
  if (!isHeld) throw new Error('The enclosed program keeps privileges.');
  if (place.filter && told('Seccomp') !== '2') throw new Error('The enclosed program has no system call filter.');
}

async function startContainer(
  enclosed: string[],
  place: Place,
  { group, memoryBytes }: { group: ControlGroup; memoryBytes: number | undefined },
): Promise<WarmContainer> {
  const [program = '', ...args] = enter(enclosed, place, { groups: group.entries, memoryBytes });
  const rehearsal = group.purpose === warmPurpose ? ['rehearse', 'pause-when-busy'] : [];
  const child = spawn(program, [...args, ...runnerCommand, ...rehearsal], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: toolsEnv,
    cwd: '/',
  });
  const { stdin, stdout, stderr } = child;
  const ended = exitOf(child);
  const exited = ended.then(async (code) => ({ code, outOfMemory: await group.ranOutOfMemory() }));
  return { stdin, stdout, stderr, exited, kill: killer(child, exited, group), claim: group.assign };
}

/**
 * The shell joins the groups before any code of the build runs; then each command replaces the one before it. `memoryBytes`
 * is the limit where there are no groups.
 */
function enter(
  enclosed: string[],
  { way, filter }: Place,
  { groups, memoryBytes }: { groups: string[]; memoryBytes?: number | undefined },
): string[] {
  const script = [joinGroups, 'exec 3< "$2"', limitFiles(8192), limitData('"$3"'), 'shift 3', 'exec "$@"'];
  const kilobytes = memoryBytes === undefined ? '' : dataKilobytes(memoryBytes);
  return [
    ...['/bin/sh', '-c', script.join('; ')],
    ...['enter', groups.join(' '), filter ?? '/dev/null', kilobytes],
    ...['prlimit', '--core=0'],
    ...way,
    ...dropUser(),
    ...enclosed,
  ];
}

/**
 * As root, let the user of builds reach the image if a folder on the way is closed, as /root is. In a mount namespace of its own, an empty
 * folder covers the closed one, and the image is mounted in it at its own path. So nothing is left on the host, no folder has to exist, and no
 * path leads into the closed one. The subshell keeps any working folder below the cover from the build. The source of the second mount is
 * `.`, which leads below the cover; a canonical path would not.
 */
export function openWay(root: string): string[] {
  const user = dropUser();
  if (user.length === 0 || succeeds([...user, 'test', '-x', root])) return [];
  const closed = findClosed(root);
  if (!closed) return [];
  const cover = 'umask 022; cd "$1"; mount -t tmpfs -o mode=0711 tmpfs "$2"; mkdir -p "$1"';
  const mounts = `set -e; (${cover}; mount --no-canonicalize --bind . "$1"); shift 2; exec "$@"`;
  return ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', mounts, 'open', root, closed];
}

/** Whether the command, from the system's folders, ends with 0. */
export function succeeds([program = '', ...args]: string[]): boolean {
  return spawnSync(program, args, { env: toolsEnv, cwd: '/', stdio: 'ignore' }).status === 0;
}

/** The first folder on the way that other users may not enter. */
export function findClosed(folder: string): string | undefined {
  const above = dirname(folder) === folder ? undefined : findClosed(dirname(folder));
  const isOpen = !existsSync(folder) || (statSync(folder).mode & constants.S_IXOTH) !== 0;
  return above ?? (isOpen ? undefined : folder);
}

/** As root, change the user before the namespaces are created; otherwise files would be written as the host's root. */
function dropUser(): string[] {
  if (process.getuid?.() !== 0) return [];
  return ['setpriv', '--reuid', buildUser, '--regid', buildUser, '--clear-groups', '--no-new-privs'];
}

/** Writes the filter into the image's folder, where the user of builds can read it. Returns its path, if it can be there. */
async function writeFilter(root: string): Promise<string | undefined> {
  const filter = ownFilter();
  if (!filter) return undefined;
  const path = join(root, 'seccomp.bpf');
  const present = await readFile(path).catch(() => undefined);
  if (present?.equals(filter)) return path;
  const aside = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(aside, filter, { mode: 0o644 });
  await rename(aside, path);
  return path;
}
