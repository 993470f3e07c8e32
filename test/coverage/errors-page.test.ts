import { expect, test } from 'vitest';
import { codes } from './codes.ts';
import { errorsPage, notOverHttp } from './errors-page.ts';

test('docs/errors.md is what the catalog and the tests say', async () => {
  await expect(errorsPage()).toMatchFileSnapshot('../../docs/errors.md');
});

test('every error code has a test that provokes it, or a reason why none can', () => {
  const bare = codes.filter(({ name, shownBy }) => !shownBy && !(name in notOverHttp));
  expect(bare.map(({ name }) => name)).toEqual([]);
  const known = new Set(codes.map(({ name }) => name));
  expect(Object.keys(notOverHttp).filter((name) => !known.has(name))).toEqual([]);
});
