/**
 * Builds without a container engine: Linux namespaces by bubblewrap, limits by control groups where we may set them.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import { type ControlGroup, findControlGroups } from './cgroups.ts';
import { exitOf } from './child-process.ts';
import { makeImageFolder, type Progress, runnerCommand } from './image/image.ts';
import { type Container, runBuild } from './run.ts';
import type { BuildLimits, BuildRequest, Sandbox } from './sandbox.ts';

const run = promisify(execFile);
const buildUser = '10001';
const toolsEnv = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin' };

export type BubblewrapSandboxOptions = {
  dataDir: string;
  /** Stable id of this installation. Two installations on one machine never touch each other's builds. */
  owner: string;
  onProgress: Progress;
  warn?: (text: string) => void;
};

/** Creates the root file system if it is missing, tests it once, and returns the sandbox. */
export async function openBubblewrapSandbox(options: BubblewrapSandboxOptions): Promise<Sandbox> {
  const image = await makeImageFolder(options.dataDir, options.onProgress);
  const [program = '', ...args] = [...dropUser(), ...enclose(image.path, 64 * 1_048_576), 'node', '--version'];
  await run(program, args, { timeout: 20_000, env: toolsEnv });
  const groups = await findControlGroups(options.owner);
  if (!groups.limited) {
    options.warn?.(
      'Control groups are not available here: builds have limits on time and output, but not on memory and processes.',
    );
  }

  async function build(request: BuildRequest) {
    request.signal.throwIfAborted();
    for (const group of await groups.list()) {
      if (group.deploymentId === request.deploymentId) await group.remove();
    }
    return runBuild(request, async () => startContainer(image.path, await groups.make(request), request.limits));
  }

  async function removeOrphanBuilds(isUnfinished: (deploymentId: string) => Promise<boolean>) {
    let removed = 0;
    for (const group of await groups.list()) {
      if (await isUnfinished(group.deploymentId)) continue;
      await group.remove();
      removed += 1;
    }
    return removed;
  }

  return { kind: 'bubblewrap', image: image.id, build, removeOrphanBuilds, close: groups.close };
}

async function startContainer(root: string, group: ControlGroup, limits: BuildLimits): Promise<Container> {
  // The shell joins the groups before any code of the build runs; then each command replaces the one before it.
  const enter = 'for f in $1; do echo $$ > "$f" || exit 70; done; shift; exec "$@"';
  const args = [
    '-c',
    enter,
    'enter',
    group.entries.join(' '),
    ...['prlimit', '--core=0', '--nofile=8192'],
    ...dropUser(),
    ...enclose(root, limits.memoryBytes),
  ];
  const child = spawn('/bin/sh', [...args, ...runnerCommand], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: toolsEnv,
    cwd: '/',
  });
  const ended = exitOf(child);
  const exited = ended.then(async (code) => ({ code, outOfMemory: await group.ranOutOfMemory() }));
  return { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, exited, kill: killer(child, exited, group) };
}

/** bubblewrap takes its whole process namespace with it (`--die-with-parent`), however many processes it has. */
function killer(child: ChildProcess, exited: Promise<unknown>, group: ControlGroup) {
  let killed: Promise<void> | undefined;
  return () => {
    killed ??= (async () => {
      child.kill('SIGKILL');
      await exited;
      await group.remove();
    })();
    return killed;
  };
}

/** As root, change the user before the namespaces are created; otherwise files would be written as the host's root. */
function dropUser(): string[] {
  if (process.getuid?.() !== 0) return [];
  return ['setpriv', '--reuid', buildUser, '--regid', buildUser, '--clear-groups', '--no-new-privs'];
}

function enclose(root: string, memoryBytes: number): string[] {
  const shown = ['usr', 'lib', 'lib64', 'etc', 'opt'].flatMap((name) => ['--ro-bind', `${root}/${name}`, `/${name}`]);
  return [
    'bwrap',
    ...['--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session', '--as-pid-1'],
    ...['--cap-drop', 'ALL', '--hostname', 'build', '--clearenv', '--setenv', 'PATH', '/usr/bin'],
    ...shown,
    ...['--proc', '/proc', '--dev', '/dev'],
    ...['--perms', '1777', '--size', String(Math.round(memoryBytes / 2)), '--tmpfs', '/tmp'],
    ...['--perms', '0700', '--size', String(memoryBytes), '--tmpfs', '/site'],
    ...['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', '/site', '--'],
  ];
}
