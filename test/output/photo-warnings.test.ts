import { afterAll, expect, test } from 'vitest';
import { photographs, pictures } from '#test/material/photographs.ts';
import { createFixture, createSite, until } from './fixture.ts';
import { sender } from './sending.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());
const owner = await fixture.newCaller();
const { publish } = sender(owner);
const read = async (id: string) => (await owner.call('GET', `/v1/deployments/${id}`)).body;

test('photos that say where they were taken are one warning, and stay as sent', async () => {
  const photos = photographs(14).map(({ name, bytes }) => [`photos/${name}`, bytes] as const);
  const site = await createSite(owner);
  const live = await publish(site, {
    'index.html': '<!doctype html><title>Photos</title>',
    'plain.jpg': pictures.jpg,
    ...Object.fromEntries(photos),
  });
  await until(async () => (await read(live.id)).warnings.counts.photo_location === photos.length);
  const { items } = (await read(live.id)).warnings;
  const paths = photos.map(([path]) => path).sort();
  expect(items.map(({ kind, path }: { kind: string; path: string }) => [kind, path])).toEqual([
    ['photo_location', paths[0]],
  ]);
  expect(items[0].message).toContain(`14 photos say where they were taken`);
  expect(items[0].message).toContain(`${paths.slice(0, 5).join(', ')} and 9 more.`);
  expect(items[0].message).not.toContain('plain.jpg');
  const [path, bytes] = photos[0] as (typeof photos)[0];
  expect((await fixture.visit(site.name, `/${path}`)).body).toEqual(bytes);
});
