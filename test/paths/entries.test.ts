/** The same list by the two ways into a site's source: a push and a commit by the API. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { printable } from '#providers/paths.ts';
import { commitTree, folder, git, tryGit, writeTree } from '#test/git/git.ts';
import { type Platform, startPlatform } from '#test/git/platform.ts';
import { stateOf } from '#test/git/state.ts';
import { corpus, type Sample } from './corpus.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());

/** Groups in which no path stands in another's way: each begins with a name of its own. */
function groups(samples: readonly Sample[], sizeMax: number): Sample[][] {
  const found: { names: Set<string>; samples: Sample[] }[] = [];
  for (const sample of samples) {
    const name = sample.raw?.toString('hex') ?? sample.path.split('/', 1)[0] ?? '';
    const group = found.find(({ names, samples }) => !names.has(name) && samples.length < sizeMax);
    if (group) {
      group.names.add(name);
      group.samples.push(sample);
    } else {
      found.push({ names: new Set([name]), samples: [sample] });
    }
  }
  return found.map(({ samples }) => samples);
}

async function cloned() {
  const work = await folder();
  const siteId = await platform.site({ 'first.txt': 'x' });
  await git(work.path, ['clone', '--quiet', '--no-checkout', await platform.address(siteId), '.']);
  const head = await git(work.path, ['rev-parse', 'HEAD']);
  const push = async (samples: Sample[]) => {
    const files = samples.map(({ path, raw }) => ({ path, bytes: 'x', ...(raw ? { raw } : {}) }));
    const commit = await commitTree(
      work.path,
      await writeTree(work.path, [{ path: 'first.txt', bytes: 'x' }, ...files]),
      [head],
    );
    return tryGit(work.path, ['push', 'origin', `${commit}:refs/heads/main`]);
  };
  return { siteId, push, [Symbol.asyncDispose]: () => work[Symbol.asyncDispose]() };
}

const wanted = corpus.filter(({ source }) => source === 'taken');
const unwanted = corpus.filter(({ path, source }) => source !== 'taken' && path.isWellFormed());
/** What no tree object can hold, or git itself takes for a broken tree. */
const broken = ({ path }: Sample) =>
  path.includes('\0') || path.split('/').some((name) => name === '' || name.length > 4096);

test('git accepts every allowed path, and returns it', async () => {
  for (const samples of groups(wanted, 1000)) {
    await using site = await cloned();
    const { status, stderr } = await site.push(samples);
    expect(status, stderr).toBe(0);
    const head = (await platform.repositories.head(site.siteId, 'source')) ?? '';
    const paths = (await platform.repositories.listTree(site.siteId, 'source', head)).map(({ path }) => path);
    expect(paths.toSorted()).toEqual([...samples.map(({ path }) => path), 'first.txt'].toSorted());
  }
});

test('a push of every refused path names it in a line', async () => {
  await using site = await cloned();
  const before = await stateOf(platform, site.siteId);
  for (const samples of groups(
    unwanted.filter((sample) => !broken(sample)),
    20,
  )) {
    const { status, stderr } = await site.push(samples);
    expect(status).not.toBe(0);
    const lines = stderr.split('\n').map((line) => line.replace(/^remote: {3}/, ''));
    for (const { path, source } of samples) {
      const says =
        lines.find((line) => line.startsWith(`${printable(path)} `)) ?? `no line for ${printable(path)}: ${stderr}`;
      expect(says).toMatch(
        source === 'frozen_file' ? /managed by the platform/ : /\b(has|lists|is empty|begins with)\b/,
      );
    }
  }
  expect(await stateOf(platform, site.siteId)).toEqual(before);
}, 180_000);

/** What each of the others meets is the same code: one in four is sent. */
const oneInFour = <Item>(all: readonly Item[]) => all.filter((_one, at) => at % 4 === 0);

test('a push of a malformed tree is refused', async () => {
  await using site = await cloned();
  const before = await stateOf(platform, site.siteId);
  for (const sample of oneInFour(unwanted.filter(broken))) {
    const { status, stderr } = await site.push([sample]);
    expect([sample.path.slice(0, 50), status]).not.toEqual([sample.path.slice(0, 50), 0]);
    expect(stderr).toMatch(/fsck|unpack|index-pack|Refused|error:|fatal:/);
  }
  expect(await stateOf(platform, site.siteId)).toEqual(before);
}, 180_000);

test('the API gives the same verdict on a path', async () => {
  const siteId = await platform.site({ 'first.txt': 'x' });
  const before = await stateOf(platform, siteId);
  const unsaid = oneInFour(corpus.filter(({ raw, source }) => raw === undefined && source !== 'taken'));
  for (const { path, source } of unsaid) {
    const { body } = await platform.call('POST', `/v1/sites/${siteId}/commits`, {
      message: 'x',
      changes: [{ path, text: 'x' }],
    });
    // What no JSON text of ours may hold is refused before anyone asks what it is for.
    const code = path.includes('\0') || !path.isWellFormed() ? 'invalid_json' : source;
    expect([path, body.error?.code]).toEqual([path, code]);
  }
  expect(await stateOf(platform, siteId)).toEqual(before);
  for (const samples of groups(wanted, 1000)) {
    const changes = samples.map(({ path }) => ({ path, text: 'x' }));
    const { body } = await platform.call('POST', `/v1/sites/${siteId}/commits`, { message: 'x', changes });
    expect(body).toMatchObject({ files_changed: samples.length });
    const undo = changes.map(({ path }) => ({ path, delete: true }));
    expect((await platform.call('POST', `/v1/sites/${siteId}/commits`, { message: 'x', changes: undo })).status).toBe(
      200,
    );
  }
}, 180_000);
