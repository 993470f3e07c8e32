import { expect, test } from 'vitest';
import { codes } from './codes.ts';
import { errorsPage, unprovoked } from './errors-page.ts';

test('docs/errors.md is what the catalog and the tests say', async () => {
  await expect(errorsPage()).toMatchFileSnapshot('../../docs/errors.md');
});

test('every error code has a test that provokes it, or a reason why none can', () => {
  const bare = codes.filter(({ name, shownBy }) => !shownBy && !(name in unprovoked));
  expect(bare.map(({ name }) => name)).toEqual([]);
  const both = codes.filter(({ name, shownBy }) => shownBy && name in unprovoked);
  expect(both.map(({ name }) => name)).toEqual([]);
});
