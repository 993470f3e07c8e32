/** Control groups of builds, versions 1 and 2: limit memory, processes and CPU of a build, and kill all of it. */
import { existsSync } from 'node:fs';
import { access, constants, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { BuildLimits } from './sandbox.ts';

/** What a group limits. */
type GroupLimits = Pick<BuildLimits, 'memoryBytes' | 'cpus' | 'pidsMax'>;

const root = '/sys/fs/cgroup';
const controllers = ['memory', 'pids', 'cpu'];
const periodUs = 100_000;
const removalTries = 100;

export type ControlGroup = {
  deploymentId: string;
  /** The groups' `cgroup.procs` files: a process joins by writing its id to each. */
  entries: string[];
  ranOutOfMemory: () => Promise<boolean>;
  /** Kills all processes in the group, then removes it. */
  remove: () => Promise<void>;
};

export type ControlGroups = {
  /** If `false`, nothing limits the memory and processes of a build. */
  limited: boolean;
  make: (build: { deploymentId: string; attempt: number; limits: GroupLimits }) => Promise<ControlGroup>;
  list: () => Promise<ControlGroup[]>;
  /** Removes the parent groups, unless builds are running. */
  close: () => Promise<void>;
};

/** Detects which limits this machine lets us set. Without the right to create groups, builds run in none. */
export async function findControlGroups(owner: string): Promise<ControlGroups> {
  const second = existsSync(join(root, 'cgroup.controllers'));
  const parents = second
    ? [join(root, `frontage-${owner}`)]
    : controllers.map((name) => join(root, name, `frontage-${owner}`));
  const prepare = async () => {
    for (const parent of parents) await mkdir(parent, { recursive: true });
    if (second) await delegate(parents[0] ?? root);
  };
  try {
    await prepare();
    for (const parent of parents) await access(parent, constants.W_OK);
  } catch {
    return noGroups;
  }
  const open = (name: string) =>
    openGroup(
      name,
      parents.map((parent) => join(parent, name)),
      second,
    );
  return {
    limited: true,
    async make({ deploymentId, attempt, limits }) {
      await prepare(); // Another process may have removed the parents when it closed.
      const group = open(`${deploymentId}.${attempt}`);
      await group.remove();
      for (const folder of group.folders) await mkdir(folder);
      await (second ? limitSecond(group.folders, limits) : limitFirst(group.folders, limits));
      return group;
    },
    async list() {
      const items = await readdir(parents[0] ?? root, { withFileTypes: true }).catch(() => []);
      return items.filter((item) => item.isDirectory()).map((item) => open(item.name));
    },
    async close() {
      for (const parent of parents) await rmdir(parent).catch(() => {});
    },
  };
}

const noGroups: ControlGroups = {
  limited: false,
  make: async ({ deploymentId }) => ({
    deploymentId,
    entries: [],
    ranOutOfMemory: async () => false,
    remove: async () => {},
  }),
  list: async () => [],
  close: async () => {},
};

async function delegate(parent: string): Promise<void> {
  const all = controllers.map((name) => `+${name}`).join(' ');
  await writeFile(join(root, 'cgroup.subtree_control'), all);
  await writeFile(join(parent, 'cgroup.subtree_control'), all);
}

async function limitSecond([folder = root]: string[], limits: GroupLimits): Promise<void> {
  await writeFile(join(folder, 'memory.max'), String(limits.memoryBytes));
  await writeFile(join(folder, 'memory.swap.max'), '0').catch(ignoreMissing);
  await writeFile(join(folder, 'pids.max'), String(limits.pidsMax));
  await writeFile(join(folder, 'cpu.max'), `${Math.round(limits.cpus * periodUs)} ${periodUs}`);
}

async function limitFirst([memory = root, pids = root, cpu = root]: string[], limits: GroupLimits): Promise<void> {
  await writeFile(join(memory, 'memory.limit_in_bytes'), String(limits.memoryBytes));
  await writeFile(join(memory, 'memory.memsw.limit_in_bytes'), String(limits.memoryBytes)).catch(ignoreMissing);
  await writeFile(join(pids, 'pids.max'), String(limits.pidsMax));
  await writeFile(join(cpu, 'cpu.cfs_period_us'), String(periodUs));
  await writeFile(join(cpu, 'cpu.cfs_quota_us'), String(Math.round(limits.cpus * periodUs)));
}

/** Kernels without swap accounting lack this file. */
function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT' && error.code !== 'EACCES' && error.code !== 'EPERM') throw error;
}

function openGroup(name: string, folders: string[], second: boolean): ControlGroup & { folders: string[] } {
  const events = join(folders[0] ?? root, second ? 'memory.events' : 'memory.oom_control');
  return {
    deploymentId: name.slice(0, name.lastIndexOf('.')),
    folders,
    entries: folders.map((folder) => join(folder, 'cgroup.procs')),
    ranOutOfMemory: async () => {
      const text = await readFile(events, 'utf8').catch(() => '');
      return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0) > 0;
    },
    remove: async () => {
      for (const folder of folders) await removeFolder(folder);
    },
  };
}

/** A group can only be removed once its last process is gone, which takes the kernel a moment. */
async function removeFolder(folder: string): Promise<void> {
  for (let tries = 0; tries < removalTries && existsSync(folder); tries += 1) {
    const members = await readFile(join(folder, 'cgroup.procs'), 'utf8').catch(() => '');
    for (const pid of members.split('\n').filter(Boolean)) kill(Number(pid));
    const removed = await rmdir(folder).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
    );
    if (removed) return;
    await delay(20);
  }
}

function kill(pid: number): void {
  try {
    if (pid > 1) process.kill(pid, 'SIGKILL');
  } catch {
    // It exited between the list and the signal.
  }
}
