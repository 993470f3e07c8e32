/** One Chromium behind its wall: started, limited in memory and processes, and ended with everything that it started. */
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { ControlGroups } from '#providers/sandbox/cgroups.ts';
import { exitOf, killer } from '#providers/sandbox/child-process.ts';
import { BrowserFault, openPipe, type Pipe } from './pipe.ts';
import { openFilter, systemPath, type WallKind, wallCommand } from './wall.ts';

const startMs = 30_000;
const mib = 1024 * 1024;
/** Of a whole browser with all its processes. The time limit is that of the work, outside of this process. */
const limits = { memoryBytes: 1536 * mib, cpus: 1, pidsMax: 512 };
const stderrBytesMax = 4_000;

export type Chromium = Pipe & {
  /** What it calls itself: `Chrome/156.0.8078.108`. */
  product: string;
  hasEnded(): boolean;
  /** Ends all its processes at once. May be called twice. */
  kill(): Promise<void>;
};

export type ChromiumOptions = {
  program: string;
  kind: WallKind;
  groups: ControlGroups;
  /** Different for each browser of this installation. */
  name: string;
};

/** Starts Chromium. Rejects if it does not answer. */
export async function startChromium({ program, kind, groups, name }: ChromiumOptions): Promise<Chromium> {
  const group = await groups.make({ purpose: name, limits });
  await weigh(group.entries);
  const filter = await openFilter(kind);
  const [shell = '', ...args] = wallCommand(kind, program, { groups: group.entries, hasFilter: filter !== undefined });
  const child = spawn(shell, args, {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe', filter?.fd ?? 'ignore'],
    env: { PATH: systemPath },
    cwd: '/',
  });
  const exited = exitOf(child);
  await filter?.close();
  let ended = false;
  let told = '';
  child.stderr?.on('data', (text: Buffer) => {
    if (told.length < stderrBytesMax) told += text;
  });
  const kill = killer(child, exited, group);
  const pipe = openPipe(child.stdio[3] as Writable, child.stdio[4] as Readable, () => {
    ended = true;
    void kill();
  });
  void exited.then(() => pipe.close(new BrowserFault('The browser has ended.')));
  try {
    const { product } = await pipe.send('Browser.getVersion', {}, undefined, startMs);
    await pipe.send('Browser.setDownloadBehavior', { behavior: 'deny' });
    return { ...pipe, product: String(product), hasEnded: () => ended, kill };
  } catch (error) {
    await kill();
    throw new Error(`Chromium did not start: ${told.trim().split('\n').at(-1) || String(error)}`);
  }
}

/** A group weighs as much as one process outside of it. A browser is several, and a person waits for it. */
async function weigh(entries: readonly string[]): Promise<void> {
  for (const folder of entries.map(dirname)) {
    await writeFile(join(folder, 'cpu.shares'), '8192', { flag: 'r+' }).catch(ignore);
    await writeFile(join(folder, 'cpu.weight'), '800', { flag: 'r+' }).catch(ignore);
  }
}

/** A kernel has one of the two files, or neither. */
const ignore = () => {};
