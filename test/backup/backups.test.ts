import { afterAll, beforeAll, expect, test } from 'vitest';
import { callWith } from '../api/world.ts';
import { openLoad } from './load.ts';
import { createWorld, openFolder, type World } from './world.ts';

let world: World;
let load: Awaited<ReturnType<typeof openLoad>>;
const opened: { close(): Promise<void> }[] = [];
const folders: { remove(): Promise<void> }[] = [];
beforeAll(async () => {
  world = await createWorld();
  load = await openLoad(world);
  for (const act of Object.values(load.acts)) await act();
});
afterAll(async () => {
  await Promise.all(opened.map((one) => one.close()));
  await Promise.all(folders.map((one) => one.remove()));
  await load?.close();
  await world?.close();
});

async function elsewhere(): Promise<World> {
  const made = await createWorld();
  opened.push(made);
  return made;
}

async function newFolder() {
  const made = await openFolder();
  folders.push(made);
  return made;
}

test('what was taken is there elsewhere: rows, repositories, files, tokens', async () => {
  const backups = await newFolder();
  const before = new Date();
  const manifest = await backups.create(world);
  expect(manifest.spoilt).toEqual([]);
  expect(await backups.check(world)).toMatchObject({ faults: [], repositories: 2 });
  const other = await elsewhere();
  const restored = await backups.restore(other);
  expect(restored).toMatchObject({ repositories: 2 });
  expect(await load.missing(other, before)).toEqual({ promised: 5, missing: [] });
  const { status, body } = await callWith(other.url, load.owner.token)('GET', `/v1/sites/${load.site.id}`);
  expect([status, body.id]).toEqual([200, load.site.id]);
  const page = async (in_: World) => (await in_.visit(load.site.name, '/')).text;
  await expect.poll(() => page(other)).toBe(await page(world));
});
