/** Control groups of builds, versions 1 and 2: limit memory, processes and CPU of a build, and kill all of it. */
import { randomBytes } from 'node:crypto';
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
  /** What it was made for or last assigned to, for example a deployment. */
  purpose: string;
  /** The groups' `cgroup.procs` files: a process joins by writing its id to each. */
  entries: string[];
  ranOutOfMemory: () => Promise<boolean>;
  /** Kills all processes in the group, then removes it. */
  remove: () => Promise<void>;
  assign: (purpose: string) => Promise<void>;
  /** Whether any process is in it. */
  isRunning: () => Promise<boolean>;
};

export type ControlGroups = {
  /** If `false`, no group limits the memory and processes of a build. */
  limited: boolean;
  make: (group: { purpose: string; limits: GroupLimits }) => Promise<ControlGroup>;
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
  const open = async (name: string) => {
    const folders = parents.map((parent) => join(parent, name));
    const [assigned = name.split('.')[0] ?? ''] = await listGroups(folders[0] ?? root);
    return openGroup(assigned, folders, second);
  };
  return {
    limited: true,
    async make({ purpose, limits }) {
      await prepare(); // Another process may have removed the parents when it closed.
      const group = await open(`${purpose}.${randomBytes(6).toString('hex')}`);
      for (const folder of group.folders) await mkdir(folder);
      await (second ? limitSecond(group.folders, limits) : limitFirst(group.folders, limits));
      return group;
    },
    list: async () => Promise.all((await listGroups(parents[0] ?? root)).map(open)),
    async close() {
      for (const parent of parents) await rmdir(parent).catch(() => {});
    },
  };
}

const noGroups: ControlGroups = {
  limited: false,
  make: async ({ purpose }) => ({
    purpose,
    entries: [],
    ranOutOfMemory: async () => false,
    remove: async () => {},
    assign: async () => {},
    isRunning: async () => false,
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

/** The names of the groups below this one. */
async function listGroups(folder: string): Promise<string[]> {
  const items = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return items.filter((item) => item.isDirectory()).map((item) => item.name);
}

function openGroup(purpose: string, folders: string[], second: boolean): ControlGroup & { folders: string[] } {
  const [first = root] = folders;
  const events = join(first, second ? 'memory.events' : 'memory.oom_control');
  return {
    purpose,
    folders,
    entries: folders.map((folder) => join(folder, 'cgroup.procs')),
    ranOutOfMemory: async () => {
      const text = await readFile(events, 'utf8').catch(() => '');
      return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0) > 0;
    },
    remove: async () => {
      for (const folder of folders) await removeFolder(folder);
    },
    // Version 2 cannot rename groups, so the name of an empty group inside says it.
    assign: (to) => mkdir(join(first, to)),
    isRunning: async () => (await listMembers(first)).length > 0,
  };
}

/** A group can only be removed once its last process is gone, which takes the kernel a moment. */
async function removeFolder(folder: string): Promise<void> {
  for (let tries = 0; tries < removalTries && existsSync(folder); tries += 1) {
    for (const pid of await listMembers(folder)) kill(pid);
    for (const name of await listGroups(folder)) await rmdir(join(folder, name)).catch(() => {});
    const removed = await rmdir(folder).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
    );
    if (removed) return;
    await delay(20);
  }
}

async function listMembers(folder: string): Promise<number[]> {
  const members = await readFile(join(folder, 'cgroup.procs'), 'utf8').catch(() => '');
  return members.split('\n').filter(Boolean).map(Number);
}

function kill(pid: number): void {
  try {
    if (pid > 1) process.kill(pid, 'SIGKILL');
  } catch {
    // It exited between the list and the signal.
  }
}
