/** Backups of a damaged installation, or in a damaged backup repository. */
import { chmod, mkdir, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { repositoryLines } from '#operator/backups/check.ts';
import { type Manifest, putGzipped, readLines } from '#operator/backups/manifest.ts';
import { readTogether } from '#operator/backups/repositories.ts';
import { openBackupRepository } from '#operator/backups/repository.ts';
import type { Option } from '#operator/commands/command.ts';
import { readCommand } from '#operator/commands/commands.ts';
import { blobPath } from '#providers/store/disk.ts';
import { createSite } from '#test/api/fixture.ts';
import { flipBit } from './damage.ts';
import { createFixture, type Fixture, type Installation, keepOpened } from './fixture.ts';

vi.setConfig({ testTimeout: 180_000 });

let fixture: Fixture;
let site: { id: string };
let kept: string;
const { elsewhere, newFolder, closeAll } = keepOpened();
beforeAll(async () => {
  fixture = await createFixture();
  site = await createSite(await fixture.newCaller());
  kept = (await fixture.deps.store.put(Buffer.from('a file of the store'))).sha256;
});
afterAll(async () => {
  await closeAll();
  await fixture?.close();
});

const placeAt = (where: string) => openBackupRepository(fixture.config, where);

/** What the operator's command answers, and what it is alarmed by. */
async function ask({ config, deps }: Pick<Installation, 'config' | 'deps'>, ...args: string[]) {
  const { command, given } = readCommand(args);
  const answer = await command?.run({ em: deps.em(), config, clock: fixture.clock }, given as Record<Option, string>);
  return { answer: answer as Record<string, unknown>, alarm: command?.alarm?.(answer) };
}

async function firstPack(where: string, manifest: Manifest): Promise<string> {
  for await (const { packs } of repositoryLines((await placeAt(where)).store, manifest))
    return packs[0]?.sha256 as string;
  throw new Error('no repository is in it');
}

test('backup, check and restore report missing repositories', async () => {
  const backups = await newFolder();
  const unmounted = join(backups.where, '..', 'frontage-unmounted-of-nobody');
  const torn = { ...fixture, config: { ...fixture.config, repositoriesDir: unmounted } };
  const { answer, alarm } = await ask(torn, 'backup', 'create', '--into', backups.where);
  const both = [`${site.id} source`, `${site.id} content`];
  expect(answer.missing).toEqual({ count: 2, first: both });
  expect(alarm).toContain('2 site repositories are missing');
  expect((await backups.check(fixture)).faults).toEqual([
    `the source repository of ${site.id} is missing`,
    `the content repository of ${site.id} is missing`,
  ]);
  const other = await elsewhere();
  await expect(backups.restore(other)).rejects.toThrow('Repositories are missing from this backup');
  expect((await backups.restore(other, undefined, { despiteDamage: true })).leftOut).toEqual(both);
});

test('an installation configured without repositories has none missing', async () => {
  const backups = await newFolder();
  const { answer, alarm } = await ask(
    { ...fixture, config: { ...fixture.config, repositoriesDir: undefined } },
    ...['backup', 'create', '--into', backups.where],
  );
  expect([answer.without_repositories, answer.missing, alarm]).toEqual([true, { count: 0, first: [] }, undefined]);
  expect((await backups.check(fixture)).faults).toEqual([]);
});

test('a repairing check moves corrupt files aside, and the next backup writes them again', async () => {
  const backups = await newFolder();
  const pack = await firstPack(backups.where, await backups.create(fixture));
  for (const sha256 of [kept, pack]) await flipBit(blobPath(backups.where, sha256));
  // Its size is what it was.
  await backups.create(fixture);
  expect((await backups.check(fixture)).faults).toHaveLength(2);
  const mending = ask(fixture, 'backup', 'check', '--from', backups.where, '--repair');
  await expect(mending).rejects.toThrow('2 damaged parts were moved aside');
  const set = (await backups.files()).filter((path) => path.includes('/damaged/'));
  expect(set.map((path) => path.slice(-64)).sort()).toEqual([kept, pack].sort());
  await backups.create(fixture);
  expect((await backups.check(fixture)).faults).toEqual([]);
});

test('a restore despite damage restores all intact data, and names the rest', async () => {
  const backups = await newFolder();
  const whole = (await fixture.deps.store.put(Buffer.from('another file'))).sha256;
  const pack = await firstPack(backups.where, await backups.create(fixture));
  for (const sha256 of [kept, pack]) await flipBit(blobPath(backups.where, sha256));
  const other = await elsewhere();
  await expect(backups.restore(other)).rejects.toThrow('damaged');
  const { answer } = await ask(other, 'backup', 'restore', '--from', backups.where, '--despite-damage');
  expect(answer.left_out).toEqual({ count: 2, first: [kept, `${site.id} source`] });
  expect((await other.deps.store.readAll(whole))?.toString()).toBe('another file');
  expect(await other.deps.store.readAll(kept)).toBeUndefined();
  expect(await other.deps.repositories?.exists(site.id, 'source')).toBe(false);
  expect(await other.deps.repositories?.exists(site.id, 'content')).toBe(true);
});

test('a backup reuses the earlier copy of a truncated file, and warns', async () => {
  const backups = await newFolder();
  const { sha256 } = await fixture.deps.store.put(Buffer.from('of which the end will be lost'));
  const never = (await fixture.deps.store.put(Buffer.from('of which the place has nothing'))).sha256;
  const before = await backups.create(fixture);
  const later = (await fixture.deps.store.put(Buffer.from('and one that came since'))).sha256;
  for (const one of [sha256, later]) await truncate(blobPath(fixture.config.storeDir as string, one), 4);
  const { answer, alarm } = await ask(fixture, 'backup', 'create', '--into', backups.where);
  expect(answer.corrupt).toEqual({ count: 2, first: expect.arrayContaining([sha256, later]) });
  expect(alarm).toContain('2 files in the store do not match their hashes');
  expect(answer.files).toBe(before.blobs.count);
  expect((await backups.check(fixture)).faults).toEqual([]);
  const other = await elsewhere();
  await backups.restore(other);
  expect((await other.deps.store.readAll(sha256))?.toString()).toBe('of which the end will be lost');
  expect((await other.deps.store.readAll(never))?.toString()).toBe('of which the place has nothing');
});

test('only a line feed ends a line of a backup’s list', async () => {
  const { store } = await placeAt((await newFolder()).where);
  const lines = ['one\u2028of\u2029many', '', 'two\r', 'x'.repeat(200_000), 'ünd'];
  const part = await putGzipped(store, Readable.from([Buffer.from(`${lines.join('\n')}\n`)]));
  const read: string[] = [];
  for await (const line of readLines(store, part)) read.push(line);
  expect(read).toEqual(lines);
});

test('branches of both repositories are read at one moment, while a publish moves both', async () => {
  const [source, content] = [{ dir: 'source' }, { dir: 'content' }];
  let readings = 0;
  // Both move after the first was read, and again after the third.
  const moves = [1, 3];
  let version = 0;
  const found = await readTogether([source, content], async ({ dir }) => {
    const refs = { [`refs/heads/${dir}`]: String(version) };
    if (moves.includes(++readings)) version += 1;
    return refs;
  });
  expect(found).toEqual([{ 'refs/heads/source': '2' }, { 'refs/heads/content': '2' }]);
});

test('a backup repository that is readable by others is not written to', async () => {
  const backups = await newFolder();
  await chmod(backups.where, 0o755);
  await expect(backups.create(fixture)).rejects.toThrow('Every user of this machine can read');
  expect(await backups.files()).toEqual([]);
  const made = join(backups.where, 'within');
  await ask(fixture, 'backup', 'create', '--into', made);
  expect((await stat(made)).mode & 0o777).toBe(0o700);
});

test('the next backup removes a killed backup’s files after a day', async () => {
  const backups = await newFolder();
  await mkdir(join(backups.where, 'tmp'));
  const left = join(backups.where, 'tmp', 'half');
  await writeFile(left, 'half of a table');
  const old = new Date(Date.now() - 25 * 3600_000);
  await utimes(left, old, old);
  await backups.create(fixture);
  expect(await backups.files()).not.toContain(left);
});
