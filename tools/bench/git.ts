/**
 * Clone and push of 200 files, compared with `git http-backend` under nginx with the same fsck and settings: wall time
 * of the git command, and CPU seconds of the server and its children. It needs nginx and fcgiwrap on PATH. Pairs are
 * interleaved; figures are medians. `--quick` measures few.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { backend, type GitServer, ours, startGitServers } from './git-contestants.ts';
import { median, medianRatio } from './measure.ts';

const fileCount = 200;
const isQuick = process.argv.includes('--quick');
const rounds = isQuick ? 2 : 15;
const countedRounds = isQuick ? 1 : 5;

type Act = 'clone' | 'push';
/** Milliseconds of each round, by contestant. */
type Taken = Map<string, number[]>;

const env = {
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Bench',
  GIT_AUTHOR_EMAIL: 'bench@example.test',
  GIT_COMMITTER_NAME: 'Bench',
  GIT_COMMITTER_EMAIL: 'bench@example.test',
};
const git = (cwd: string, ...args: string[]) => promisify(execFile)('git', args, { cwd, env });

async function wallMs(act: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await act();
  return performance.now() - began;
}

async function cpuMs(server: GitServer, act: () => Promise<unknown>): Promise<number> {
  const before = await server.cpuSeconds();
  await act();
  // Child processes exit shortly after the response.
  await setTimeout(100);
  return ((await server.cpuSeconds()) - before) * 1000;
}

/** Commits 200 changed pages in the clone. */
async function change(clone: string): Promise<void> {
  await mkdir(join(clone, 'src/pages'), { recursive: true });
  for (let file = 0; file < fileCount; file++) {
    await writeFile(join(clone, `src/pages/page-${file}.astro`), `<p>${randomBytes(1500).toString('base64')}</p>\n`);
  }
  await git(clone, 'add', '--all');
  await git(clone, 'commit', '--quiet', '--message', 'Change');
}

type Measure = (server: GitServer, act: () => Promise<unknown>) => Promise<number>;

/** Pushes and clones alternately; each contestant goes first every other round. */
async function measure(dir: string, servers: GitServer[], count: number, address: keyof GitServer, by: Measure) {
  const taken: Record<Act, Taken> = { clone: new Map(), push: new Map() };
  for (let round = 0; round <= count; round++) {
    for (const server of round % 2 ? servers : servers.toReversed()) {
      const clone = join(dir, server.name);
      await change(clone);
      const url = String(server[address]);
      const push = await by(server, () => git(clone, 'push', '--quiet', url, 'HEAD:main'));
      const anew = join(dir, 'anew');
      const cloned = await by(server, () => git(dir, 'clone', '--quiet', '--depth=1', url, anew));
      await rm(anew, { recursive: true });
      // The first round is a warm-up.
      if (round === 0) continue;
      for (const [act, ms] of [
        ['clone', cloned],
        ['push', push],
      ] as const) {
        taken[act].set(server.name, [...(taken[act].get(server.name) ?? []), ms]);
      }
    }
  }
  return taken;
}

/** Returns the section of the results. */
export async function benchGit(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'frontage-bench-'));
  const { servers, stop } = await startGitServers(dir);
  try {
    for (const { name, address } of servers) await git(dir, 'clone', '--quiet', address, name);
    const wall = await measure(dir, servers, rounds, 'address', (_server, act) => wallMs(act));
    const cpu = await measure(dir, servers, countedRounds, 'countedAddress', cpuMs);
    return [
      `Compared with \`git http-backend\` under nginx and fcgiwrap with the same git settings (fsck, fsync, memory) but without`,
      `access check, hook and rules; ${(await git(dir, '--version')).stdout.trim()}. Medians of ${rounds} interleaved pairs; CPU, of the server`,
      `and its children, of ${countedRounds}. Ratios are of each round's pair.\n`,
      `| ${fileCount} files | Frontage | \`http-backend\` | ratio | CPU | \`http-backend\` | ratio |`,
      '| --- | --- | --- | --- | --- | --- | --- |',
      `| clone, depth 1 | ${compare(wall.clone)} | ${compare(cpu.clone)} |`,
      `| push | ${compare(wall.push)} | ${compare(cpu.push)} |`,
    ].join('\n');
  } finally {
    await stop();
    await rm(dir, { recursive: true, force: true });
  }
}

function compare(taken: Taken): string {
  const [mine, theirs] = [taken.get(ours) ?? [], taken.get(backend) ?? []];
  return `${Math.round(median(mine))} ms | ${Math.round(median(theirs))} ms | ${medianRatio(mine, theirs).toFixed(2)}`;
}
