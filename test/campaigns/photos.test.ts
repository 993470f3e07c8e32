/** Photos of 12 cameras through each way on which they lose location and camera data. */
import { afterAll, expect, test } from 'vitest';
import { photographs } from '#test/material/photographs.ts';
import { openDecoder } from '#test/material/pixels.ts';
import { openWays, tracesIn } from '#test/material/ways.ts';
import { sized } from './size.ts';

const photos = photographs(sized({ short: 200, long: 2_000 }));
const ways = await openWays();
afterAll(() => ways.close());

test('no photo keeps its location, on any way', { tags: 'chromium', timeout: 3_600_000 }, async () => {
  const decoder = await openDecoder();
  try {
    const before = new Map<string, unknown>();
    for (const { name, bytes } of photos) before.set(name, (await decoder.decode([bytes]))[0]);
    const arrived = await ways.send(photos);
    expect(arrived).toHaveLength(5 * photos.length);
    for (const { photo, way, bytes } of arrived) {
      expect(tracesIn(bytes, photo), `${photo.name} by ${way}`).toEqual([]);
      expect((await decoder.decode([bytes]))[0], `${photo.name} by ${way}`).toEqual(before.get(photo.name));
    }
  } finally {
    await decoder.close();
  }
});
