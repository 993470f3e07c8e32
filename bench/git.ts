/**
 * Clone and push of 200 files beside `git http-backend` under nginx, with the same fsck and settings: wall time of the git command, and
 * CPU seconds of the server with all it started. `node bench/git.ts`, with nginx and fcgiwrap on PATH. Pairs are interleaved; medians.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { backend, type GitServer, ours, startGitServers } from './git-contestants.ts';
import { median } from './measure.ts';

const fileCount = 200;
const rounds = 15;

type Taken = { wallMs: number; cpuMs: number };

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

async function timed(server: GitServer, act: () => Promise<unknown>): Promise<Taken> {
  const cpu = await server.cpuSeconds();
  const began = performance.now();
  await act();
  const wallMs = performance.now() - began;
  // What was started ends a moment after its answer.
  await setTimeout(50);
  return { wallMs, cpuMs: ((await server.cpuSeconds()) - cpu) * 1000 };
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

/** Measures and prints a line for clone and for push. */
export async function benchGit(): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'frontage-bench-'));
  const { servers, stop } = await startGitServers(dir);
  const taken = { clone: new Map<string, Taken[]>(), push: new Map<string, Taken[]>() };
  const keep = (act: keyof typeof taken, { name }: GitServer, one: Taken) =>
    taken[act].set(name, [...(taken[act].get(name) ?? []), one]);
  try {
    for (const { name, address } of servers) await git(dir, 'clone', '--quiet', address, name);
    for (let round = 0; round <= rounds; round++) {
      // Each in turn goes first.
      for (const server of round % 2 ? servers : servers.toReversed()) {
        const clone = join(dir, server.name);
        await change(clone);
        const push = await timed(server, () => git(clone, 'push', '--quiet', 'origin', 'HEAD:main'));
        const anew = join(dir, 'anew');
        const cloned = await timed(server, () => git(dir, 'clone', '--quiet', '--depth=1', server.address, anew));
        await rm(anew, { recursive: true });
        if (round === 0) continue;
        keep('push', server, push);
        keep('clone', server, cloned);
      }
    }
    for (const act of ['clone', 'push'] as const)
      report(act, taken[act].get(ours) ?? [], taken[act].get(backend) ?? []);
  } finally {
    await stop();
    await rm(dir, { recursive: true, force: true });
  }
}

function report(act: string, mine: Taken[], theirs: Taken[]): void {
  const middle = (all: Taken[], of: keyof Taken) => Math.round(median(all.map((one) => one[of])));
  const ratio = (of: keyof Taken) =>
    median(mine.map((one, round) => one[of] / (theirs[round]?.[of] ?? Number.NaN))).toFixed(2);
  console.log(
    `git ${act} of ${fileCount} files: ${middle(mine, 'wallMs')} ms, CPU ${middle(mine, 'cpuMs')} ms;`,
    `http-backend under nginx ${middle(theirs, 'wallMs')} ms, CPU ${middle(theirs, 'cpuMs')} ms;`,
    `ratio ${ratio('wallMs')} (CPU ${ratio('cpuMs')}), ${mine.length} pairs`,
  );
}

if (import.meta.main) await benchGit();
