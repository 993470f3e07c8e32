import { expect, test } from 'vitest';
import { openOfflineLibrary } from '#providers/photos/offline.ts';

test.each([
  ['Mountains at dawn', 'mountains'],
  ['a bakery', 'bread'],
  ['CUPS of coffee', 'coffee'],
])('the offline library finds by whole words: %s', async (query, described) => {
  const [first] = await openOfflineLibrary().search(query);
  expect(first?.description.toLowerCase()).toContain(described);
});

test.each([
  ['a harbour', 1],
  ['nature', 2],
  ['a dentist', 0],
])('the offline library returns only what fits: %s', async (query, count) => {
  expect(await openOfflineLibrary().search(query)).toHaveLength(count);
});
