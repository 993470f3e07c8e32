/** Removing backups leaves the others complete, despite concurrent work and kills. */
import { readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createBackup } from '#operator/backups/create.ts';
import { removeBackups } from '#operator/backups/remove.ts';
import { type BackupRepository, openBackupRepository } from '#operator/backups/repository.ts';
import type { Option } from '#operator/commands/command.ts';
import { readCommand } from '#operator/commands/commands.ts';
import { listed } from '#operator/commands/listing.ts';
import { createSite } from '#test/api/fixture.ts';
import { flipBit } from './damage.ts';
import { createFixture, type Fixture, keepOpened } from './fixture.ts';
import { gate, heldBeforeFlush, moments } from './held-up.ts';

vi.setConfig({ testTimeout: 180_000 });

let fixture: Fixture;
const { newFolder, closeAll } = keepOpened();
beforeAll(async () => {
  fixture = await createFixture();
  await createSite(await fixture.newCaller());
});
afterAll(async () => {
  await closeAll();
  await fixture?.close();
});

type Folder = Awaited<ReturnType<typeof newFolder>>;
const placeOf = ({ where }: Folder) => openBackupRepository(fixture.config, where);
const put = async (text: string) => (await fixture.deps.store.put(Buffer.from(text))).sha256;

// biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer is what it asserts.
async function ask(...args: string[]): Promise<{ answer: any; alarm: string | undefined }> {
  const { command, given } = readCommand(['backup', ...args]);
  const { config, clock, deps } = fixture;
  const answer = await command?.run({ em: deps.em(), config, clock }, given as Record<Option, string>);
  return { answer, alarm: command?.alarm?.(answer) };
}

/** Backups one after another, each of a file more. */
async function manyIn(folder: Folder, count: number) {
  const made = [];
  for (let number = 0; number < count; number++) {
    const file = await put(`a file before ${folder.where} ${number}`);
    made.push({ file, name: (await folder.create(fixture)).name });
  }
  return made as [Made, Made, ...Made[]];
}
type Made = { file: string; name: string };

/** All that is here can be restored, and nothing is here but that. */
async function expectWhole(folder: Folder, names: string[]): Promise<void> {
  const { answer } = await ask('list', '--from', folder.where);
  expect(answer.items.map(({ backup }: { backup: string }) => backup)).toEqual(names);
  for (const name of names) expect((await folder.check(fixture, name)).faults).toEqual([]);
  expect(await readdir(join(folder.where, 'under-way'))).toEqual([]);
  const again = await removeBackups(await placeOf(folder), () => []);
  expect(again).toMatchObject({ removed: [], parts: 0, left: names.length });
}

test('removing a backup removes only what no other backup uses', async () => {
  const folder = await newFolder();
  const [first, second, third] = await manyIn(folder, 3);
  const { answer, alarm } = await ask('remove', '--from', folder.where, '--backup', second.name);
  expect([answer, alarm]).toEqual([
    {
      removed: [second.name],
      absent: [],
      left: 2,
      parts: expect.any(Number),
      bytes: expect.any(Number),
      unread: { count: 0, first: [] },
    },
    undefined,
  ]);
  expect(answer.parts).toBeGreaterThan(0);
  await expectWhole(folder, [first.name, third?.name ?? '']);
  // The file of the first is in the last, which is what it is restored from.
  await ask('remove', '--from', folder.where, '--keep', '1');
  await expectWhole(folder, [third?.name ?? '']);
  const held = await (await placeOf(folder)).store.sizes([first.file, second.file]);
  expect(held.size).toBe(2);
  await ask('remove', '--from', folder.where, '--backup', third?.name ?? '');
  expect((await folder.files()).length).toBe(0);
});

test('removing a missing backup or repository reports it and creates nothing', async () => {
  const folder = await newFolder();
  const [first] = await manyIn(folder, 1);
  const wrong = await ask('remove', '--from', folder.where, '--backup', 'x');
  expect([wrong.answer.absent, wrong.alarm]).toEqual([
    ['x'],
    'There is no backup x here. Data that no backup uses was removed.',
  ]);
  await expectWhole(folder, [first.name]);
  const nowhere = join(folder.where, 'nowhere');
  await expect(ask('remove', '--from', nowhere, '--keep', '1')).rejects.toThrow('There is no backup here.');
  await expect(readdir(nowhere)).rejects.toThrow('ENOENT');
  for (const [said, words] of [
    [[], 'either --backup or --keep'],
    [['--backup', 'x', '--keep', '1'], 'either --backup or --keep'],
    [['--keep', '0'], 'a whole number, 1 or greater'],
  ] as const)
    await expect(ask('remove', '--from', folder.where, ...said)).rejects.toThrow(words);
});

test('an interrupted removal leaves the others intact, and the same command completes it', async () => {
  const folder = await newFolder();
  const [first, second] = await manyIn(folder, 2);
  const place = await placeOf(folder);
  let dropped = 0;
  const killed: BackupRepository = {
    ...place,
    async drop(sha256) {
      if (dropped++ > 0) throw new Error('killed');
      await place.drop(sha256);
    },
    locks: { ...place.locks, remove: async () => {} },
  };
  await expect(removeBackups(killed, () => [first.name])).rejects.toThrow('killed');
  expect((await folder.check(fixture, second.name)).faults).toEqual([]);
  const again = () => ask('remove', '--from', folder.where, '--backup', first.name);
  await expect(again()).rejects.toThrow('Another process is creating or removing a backup here');
  await passTime(folder);
  const { answer, alarm } = await again();
  expect([answer.parts > 0, alarm]).toEqual([true, expect.stringContaining('There is no backup')]);
  await expectWhole(folder, [second.name]);
});

/** Whoever works there has said nothing for twenty minutes. */
async function passTime({ where }: Folder): Promise<void> {
  const before = new Date(Date.now() - 20 * 60_000);
  for (const name of await readdir(join(where, 'under-way')))
    await utimes(join(where, 'under-way', name), before, before);
}

test('nothing is removed while a backup is being written', async () => {
  const folder = await newFolder();
  const [first] = await manyIn(folder, 1);
  const { pass, reached, open } = gate();
  const creating = createBackup(fixture, heldBeforeFlush(await placeOf(folder), pass));
  await reached;
  const remove = () => ask('remove', '--from', folder.where, '--backup', first.name);
  await expect(remove()).rejects.toThrow('is creating or removing');
  open();
  const { name } = await creating;
  await remove();
  await expectWhole(folder, [name]);
});

test.each(Object.entries(moments))(
  'a backup that was delayed %s until its lock expired is discarded',
  async (_when, hold) => {
    const folder = await newFolder();
    const [first] = await manyIn(folder, 1);
    const { pass, reached, open } = gate();
    const creating = createBackup(fixture, hold(await placeOf(folder), pass));
    await reached;
    await passTime(folder);
    await put(`a file after ${folder.where}`);
    const { name } = await folder.create(fixture);
    await ask('remove', '--from', folder.where, '--backup', first.name);
    open();
    await expect(creating).rejects.toThrow('lock expired');
    // What it had copied goes with the next removal.
    await removeBackups(await placeOf(folder), () => []);
    await expectWhole(folder, [name]);
  },
);

test('a backup waits while others are removed, and is complete', async () => {
  const folder = await newFolder();
  const [first] = await manyIn(folder, 1);
  const place = await placeOf(folder);
  const { pass, reached, open } = gate();
  const removing = removeBackups(
    {
      ...place,
      async drop(sha256) {
        await pass();
        await place.drop(sha256);
      },
    },
    () => [first.name],
  );
  await reached;
  let ended = false;
  const creating = folder.create(fixture).finally(() => {
    ended = true;
  });
  await expect.poll(async () => (await readdir(join(folder.where, 'under-way'))).length).toBe(2);
  expect(ended).toBe(false);
  open();
  await removing;
  await expectWhole(folder, [(await creating).name]);
});

test('a damaged backup does not affect the parts of others, and can be removed', async () => {
  const folder = await newFolder();
  const [first, second] = await manyIn(folder, 2);
  const place = await placeOf(folder);
  const manifest = (await place.read(second.name)) ?? '';
  await flipBit(join(folder.where, 'sha256', manifest.slice(0, 2), manifest.slice(2)));
  const one = await ask('remove', '--from', folder.where, '--backup', first.name);
  expect([one.answer.parts, one.alarm]).toEqual([0, expect.stringContaining(`${second.name} cannot be read`)]);
  const other = await ask('remove', '--from', folder.where, '--backup', second.name);
  expect(other.alarm).toBe(undefined);
  expect((await folder.files()).length).toBe(0);
});

test('a list of backups ends, and names the next page', async () => {
  const folder = await newFolder();
  const [{ name }] = await manyIn(folder, 1);
  const place = await placeOf(folder);
  const sha256 = (await place.read(name)) ?? '';
  for (let number = 0; number < listed + 1; number++) await place.write(`${name}-${1000 + number}`, sha256);
  const first = await ask('list', '--from', folder.where);
  const second = await ask('list', '--from', folder.where, '--after', first.answer.next);
  expect([first.answer.items.length, first.answer.next]).toEqual([listed, `${name}-${1000 + listed - 2}`]);
  expect([second.answer.items.length, second.answer.next]).toEqual([2, null]);
});
