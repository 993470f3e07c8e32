import { expect, test } from 'vitest';
import { elsewhere } from '#api/photos/schemas.ts';
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

test('an empty search says what there is, and nothing of settings', () => {
  const said = elsewhere(openOfflineLibrary());
  expect(said).toMatch(/^No photo fits these words\. .*A cup of coffee/);
  expect(elsewhere({})).toMatch(/^No photo fits these words\. Search with other words/);
  expect(said + elsewhere({})).not.toMatch(/FRONTAGE_|setting/);
});
