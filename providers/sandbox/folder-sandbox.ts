/** Builds as child processes that see this machine's own tree: each has a folder, which is deleted with it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { exitOf } from './child-process.ts';
import { nodeBinary } from './image/system.ts';
import { type Container, runBuild } from './run.ts';
import type { BuildLimits, BuildRequest, Sandbox } from './sandbox.ts';

export type FolderSandbox = {
  kind: Sandbox['kind'];
  image: { id: string; path: string };
  owner: string;
  /** The words before the command, for a build in this folder. PATH has no folder of the system. */
  enclose: (folder: string, limits: BuildLimits) => string[];
};

/**
 * Limits time, log and output. Everything else is up to the enclosure. The folders of builds are beside the image: `siteFolder` says why.
 */
export function folderSandbox({ kind, image, owner, enclose }: FolderSandbox): Sandbox {
  const prefix = `${owner}-`;
  const builds = join(dirname(image.path), 'builds');

  const build = (request: BuildRequest) =>
    runBuild(request, async () => {
      await mkdir(builds, { recursive: true, mode: 0o700 });
      const folder = await realpath(await mkdtemp(join(builds, `${prefix}${request.deploymentId}.`)));
      return startProcess(image.path, folder, enclose(folder, request.limits));
    });

  async function removeOrphanBuilds(isUnfinished: (deploymentId: string) => Promise<boolean>) {
    let removed = 0;
    for (const name of await readdir(builds).catch(() => [])) {
      if (!name.startsWith(prefix)) continue;
      if (await isUnfinished(name.slice(prefix.length, name.lastIndexOf('.')))) continue;
      await rm(join(builds, name), { recursive: true, force: true });
      removed += 1;
    }
    return removed;
  }

  return { kind, image: image.id, build, removeOrphanBuilds, close: async () => {} };
}

async function startProcess(imagePath: string, folder: string, enclosed: string[]): Promise<Container> {
  const site = join(folder, 'site');
  const temporary = join(folder, 'tmp');
  await mkdir(site);
  await mkdir(temporary);
  const supervisor = join(imagePath, 'opt/frontage/runner/supervisor.mjs');
  const [program = '', ...args] = [...enclosed, nodeBinary(), '--disable-sigusr1', supervisor];
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true, // A separate process group, so that all of it can be killed.
    env: { PATH: dirname(nodeBinary()), HOME: temporary, TMPDIR: temporary, FRONTAGE_ROOT: site },
    cwd: site,
  });
  const exited = exitOf(child).then((code) => ({ code, outOfMemory: false }));
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited,
    kill: killer(child, exited, folder),
  };
}

function killer(child: ChildProcess, exited: Promise<unknown>, folder: string) {
  let killed: Promise<void> | undefined;
  return () => {
    killed ??= (async () => {
      killGroup(child);
      await exited;
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    })();
    return killed;
  };
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group has exited.
  }
}
