import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkContent, checkTree, readPlatformFiles, sentence } from '#git/rules.ts';
import type { Repository } from '#rules/states.ts';
import { limitsIn } from '#test/api/fixture.ts';
import { type AnyFile, commitTree, folder, git, tryGit, writeTree } from './git.ts';
import { type HostilePush, hostilePushes, limits } from './hostile.ts';
import { hostileFormats } from './hostile-formats.ts';
import { type Platform, startPlatform } from './platform.ts';
import * as sample from './samples.ts';
import { gitProcesses, stateOf } from './state.ts';

let platform: Platform;
let siteId: string;
const heads = { source: '', content: '' };
let work: Awaited<ReturnType<typeof folder>>;

const platformPackages = await readFile(
  join(import.meta.dirname, '../../providers/sandbox/image/package.json'),
  'utf8',
);
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

async function push({ files, without = [], repository = 'source' }: HostilePush) {
  const clone = join(work.path, repository);
  const kept = base[repository].filter(
    ({ path }) =>
      !without.includes(path) && !files.some((file) => file.path === path || file.path.startsWith(`${path}/`)),
  );
  const commit = await commitTree(clone, await writeTree(clone, [...kept, ...files]), [heads[repository]]);
  return tryGit(clone, ['push', 'origin', `${commit}:refs/heads/main`]);
}

/**
 * Every refusal is tested with the rules below. Of those with the same words, or of formats with the same code, one is also pushed and
 * committed by the API.
 */
const sent = [
  ...firstOf(hostilePushes, ({ repository, says, without }) => `${repository} ${says} ${without}`),
  ...firstOf(hostileFormats, ({ repository, code }) => `${repository} ${code}`),
];

function firstOf(all: readonly HostilePush[], kindOf: (one: HostilePush) => string): HostilePush[] {
  return [...new Map(all.toReversed().map((one) => [kindOf(one), one])).values()];
}

describe.each(sent)('a push with $brings is refused', (hostile) => {
  const { repository = 'source', files, without = [], says, code } = hostile;
  const name = hostile.names ?? files[0]?.path ?? '';

  test('by git, with a line naming file and rule, and leaves nothing', async () => {
    const before = await stateOf(platform, siteId, repository);
    const { status, stderr } = await push(hostile);
    expect(stderr).toMatch(/remote: Refused\. Nothing has changed\./);
    const lines = stderr.split('\n').filter((line) => line.startsWith('remote:   '));
    expect(
      lines.find((line) => line.includes(name) && says.test(line)),
      stderr,
    ).toBeDefined();
    expect(status).toBe(1);
    expect(await stateOf(platform, siteId, repository)).toEqual(before);
    expect(before.quarantines).toEqual([]);
    expect(await gitProcesses(platform, siteId)).toEqual([]);
  });

  if (code === undefined) return;
  test('by the API, with the same rule', async () => {
    const before = await stateOf(platform, siteId, repository);
    const prefix = repository === 'content' ? 'src/content/' : '';
    const changes = [
      ...files.map(({ path, bytes = '' }) => ({ path: prefix + path, base64: Buffer.from(bytes).toString('base64') })),
      ...without.map((path) => ({ path, delete: true })),
    ];
    const answer = await platform.call('POST', `/v1/sites/${siteId}/commits`, { message: 'Change', changes });
    expect(answer.body.error).toMatchObject({ code, retryable: false, message: expect.stringMatching(says) });
    expect(await stateOf(platform, siteId, repository)).toEqual(before);
  });
});

/** Refused by the names, modes or bytes of single files. */
const single = [...hostilePushes, ...hostileFormats].filter(
  ({ files: [file, ...more], says }) => !file?.raw && more.length === 0 && !/size limit/.test(says.source),
);

test.each(single)('the rules refuse $brings, with the rule', async (hostile) => {
  const { repository = 'source', files, without = [], says, code, names } = hostile;
  const [file] = files;
  const path = file?.path ?? without[0] ?? '';
  const { deps } = platform;
  const rules = {
    repository,
    platform: readPlatformFiles(),
    limits: { ...limitsIn(deps.config), ...limits },
    lift: () => '',
  };
  const [refusal] = checkTree(
    rules,
    [],
    [{ path, oid: file ? (file.oid ?? '0'.repeat(40)) : null, mode: file?.mode ?? '100644' }],
  );
  const verdict =
    refusal ?? (await checkContent(repository, path, Readable.from([Buffer.from((file?.bytes ?? '') as string)])));
  expect(verdict).toMatchObject({ ...(code ? { code } : {}), path, remedy: expect.stringMatching(/\.$/) });
  expect(verdict && sentence(verdict)).toMatch(says);
  expect(verdict && sentence(verdict)).toContain(names ?? path);
});

/** What a site may have. */
const welcome: Record<Repository, AnyFile[]> = {
  source: [
    { path: 'package.json', bytes: platformPackages },
    { path: 'astro.config.mjs', bytes: 'export default {}' },
    { path: 'scripts/run.sh', mode: '100755', bytes: '#!/bin/sh' },
    { path: 'src/pages/caf\u00e9 & bar.md', bytes: 'x' },
    { path: '.gitignore', bytes: 'dist' },
    { path: '.github/a.yml', bytes: 'a: 1' },
    // Close to the names of frozen files and of the content repository.
    { path: 'package.json.md', bytes: 'x' },
    { path: 'npmrc', bytes: 'x' },
    { path: 'src/content.config.ts', bytes: 'x' },
    { path: 'src/contents/a', bytes: 'x' },
    { path: 'src/assets/a.png', bytes: sample.png },
    { path: 'src/assets/a.JPG', bytes: sample.jpg },
    { path: 'src/assets/a.jpeg', bytes: sample.jpg },
    { path: 'src/assets/a.gif', bytes: sample.gif },
    { path: 'src/assets/a.webp', bytes: sample.webp },
    { path: 'src/assets/a.avif', bytes: sample.avif },
    { path: 'src/assets/a.tiff', bytes: sample.tiff },
    { path: 'src/assets/a.svg', bytes: sample.svg() },
    { path: 'src/assets/a.woff2', bytes: sample.woff2 },
    { path: 'src/assets/a.woff', bytes: sample.woff },
    { path: 'src/assets/a.ttf', bytes: sample.ttf },
    { path: 'src/assets/a.otf', bytes: sample.otf },
    {
      path: 'src/assets/b.svg',
      bytes: sample.svg(
        '<defs><linearGradient id="a"/></defs><image href="data:image/png;base64,AA=="/><path fill="url(#a)" style="opacity:.5"/>',
      ),
    },
    { path: 'public/menu.pdf', bytes: sample.pdf },
  ],
  content: [
    ...['a.md', 'b/c.mdx', 'd.yaml', 'e.yml', 'f.toml', 'g.csv', 'h.MD', 'i.mdoc'].map((path) => ({
      path,
      bytes: 'a\u00e9',
    })),
    { path: 'i.json', bytes: '{}' },
    { path: 'j.jpg', bytes: sample.jpg },
    { path: 'k.png', bytes: sample.png },
    { path: 'l.avif', bytes: sample.avif },
  ],
};

test.each(['source', 'content'] as const)('all that %s may have is pushed and committed', async (repository) => {
  const files = welcome[repository];
  const own = await platform.site({ 'src/pages/index.astro': 'x' });
  await using work = await folder();
  const address = await platform.address(own, { repository });
  await git(work.path, ['clone', '--quiet', address, '.']);
  const head = (await platform.repositories.head(own, repository)) ?? '';
  const commit = await commitTree(work.path, await writeTree(work.path, files), [head]);
  const { status, stderr } = await tryGit(work.path, ['push', 'origin', `${commit}:refs/heads/main`]);
  expect(status, stderr).toBe(0);
  expect(await platform.repositories.head(own, repository)).toBe(commit);

  const other = await platform.site({ 'src/pages/index.astro': 'x' });
  const prefix = repository === 'content' ? 'src/content/' : '';
  const changes = files.map(({ path, bytes = '' }) => ({
    path: prefix + path,
    base64: Buffer.from(bytes).toString('base64'),
  }));
  const answer = await platform.call('POST', `/v1/sites/${other}/commits`, { message: 'Change', changes });
  expect(answer).toMatchObject({ status: 200, body: { repository, files_changed: files.length } });
});
