import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Repository } from '../../db/states.ts';
import { type AnyFile, commitTree, folder, git, tryGit, writeTree } from './git.ts';
import { type HostilePush, hostilePushes, limits } from './hostile.ts';
import { type Platform, startPlatform } from './platform.ts';

let platform: Platform;
let siteId: string;
const heads = { source: '', content: '' };
let work: Awaited<ReturnType<typeof folder>>;

const platformPackages = await readFile(join(import.meta.dirname, '../../sandbox/package.json'), 'utf8');
const base: Record<Repository, AnyFile[]> = {
  source: [
    { path: 'src/pages/index.astro', bytes: '<h1>Hi</h1>\n' },
    { path: 'package.json', bytes: platformPackages },
  ],
  content: [],
};

beforeAll(async () => {
  platform = await startPlatform(limits);
  work = await folder();
  siteId = await platform.site(Object.fromEntries(base.source.map(({ path, bytes }) => [path, bytes ?? ''])));
  for (const repository of ['source', 'content'] as const) {
    const address = await platform.address(siteId, { repository, seconds: 86_400 });
    await git(work.path, ['clone', '--quiet', address, repository]);
    heads[repository] = (await platform.repositories.head(siteId, repository)) ?? '';
  }
});
afterAll(async () => {
  await work[Symbol.asyncDispose]();
  await platform.close();
});

/** All that a push could leave behind in the repository. */
async function stateOf(repository: Repository) {
  const { dir } = platform.repositories.place(siteId, repository);
  const quarantines = (await readdir(join(dir, 'objects'))).filter((name) => name.includes('incoming'));
  return { refs: await git(dir, ['for-each-ref']), quarantines };
}

/** Command lines of the git processes that work on this platform's repositories. */
async function gitProcesses(): Promise<string[]> {
  const { dir } = platform.repositories.place(siteId, 'source');
  const lines = (await readdir('/proc'))
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''));
  return (await Promise.all(lines)).filter((line) => line.startsWith('git') && line.includes(dir));
}

async function push({ files, without = [], repository = 'source' }: HostilePush) {
  const clone = join(work.path, repository);
  const kept = base[repository].filter(
    ({ path }) =>
      !without.includes(path) && !files.some((file) => file.path === path || file.path.startsWith(`${path}/`)),
  );
  const commit = await commitTree(clone, await writeTree(clone, [...kept, ...files]), [heads[repository]]);
  return tryGit(clone, ['push', 'origin', `${commit}:refs/heads/main`]);
}

describe.each(hostilePushes)('a push is refused that brings $brings', (hostile) => {
  const { repository = 'source', files, without = [], says, code } = hostile;
  const name = hostile.names ?? files[0]?.path ?? '';

  test('by git, with a line that names the file and the rule, and nothing is left of it', async () => {
    const before = await stateOf(repository);
    const { status, stderr } = await push(hostile);
    expect(stderr).toMatch(/remote: Refused\. Nothing has changed\./);
    const lines = stderr.split('\n').filter((line) => line.startsWith('remote:   '));
    expect(
      lines.find((line) => line.includes(name) && says.test(line)),
      stderr,
    ).toBeDefined();
    expect(status).toBe(1);
    expect(await stateOf(repository)).toEqual(before);
    expect(before.quarantines).toEqual([]);
    expect(await gitProcesses()).toEqual([]);
  });

  if (code === undefined) return;
  test('by the API, with the same rule', async () => {
    const before = await stateOf(repository);
    const prefix = repository === 'content' ? 'src/content/' : '';
    const changes = [
      ...files.map(({ path, bytes = '' }) => ({ path: prefix + path, base64: Buffer.from(bytes).toString('base64') })),
      ...without.map((path) => ({ path, delete: true })),
    ];
    const answer = await platform.call('POST', `/v1/sites/${siteId}/commits`, { message: 'Change', changes });
    expect(answer.body.error).toMatchObject({ code, retryable: false, message: expect.stringMatching(says) });
    expect(await stateOf(repository)).toEqual(before);
  });
});
