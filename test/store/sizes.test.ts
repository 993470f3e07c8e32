import { expect, test } from 'vitest';
import { readSizes } from '#providers/store/sizes.ts';

const hashes = Array.from({ length: 2000 }, (_, n) => n.toString(16).padStart(64, '0'));

test('sizes are read once for each hash, and missing blobs are left out', async () => {
  const asked: string[] = [];
  const sizes = await readSizes([...hashes, ...hashes], 8, async (sha256) => {
    asked.push(sha256);
    return sha256.endsWith('0') ? undefined : sha256.length;
  });
  expect(asked.sort()).toEqual(hashes);
  expect(sizes.size).toBe(hashes.filter((sha256) => !sha256.endsWith('0')).length);
});

test('after a failure no further sizes are read', async () => {
  let asked = 0;
  const refused = async () => {
    asked += 1;
    throw new Error('the bucket refuses');
  };
  await expect(readSizes(hashes, 8, refused)).rejects.toThrow('the bucket refuses');
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
  expect(asked).toBeLessThanOrEqual(16);
});
