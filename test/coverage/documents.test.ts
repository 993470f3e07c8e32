import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { errorsPage } from '#tools/scripts/docs/errors-page.ts';
import { settingsPage } from '#tools/scripts/docs/settings-page.ts';
import { codes, notOverHttp } from './codes.ts';

const docs = join(import.meta.dirname, '../../docs');

test('docs/errors.md is what npm run docs writes from the catalog', () => {
  expect(readFileSync(join(docs, 'errors.md'), 'utf8')).toBe(errorsPage());
});

test('docs/settings.md is what npm run docs writes from the schema of the environment', () => {
  expect(readFileSync(join(docs, 'settings.md'), 'utf8')).toBe(settingsPage());
});

test('each error code has a test that provokes it, or a reason without', () => {
  const bare = codes.filter(({ name, shownBy }) => !shownBy && !(name in notOverHttp));
  expect(bare.map(({ name }) => name)).toEqual([]);
  const known = new Set(codes.map(({ name }) => name));
  expect(Object.keys(notOverHttp).filter((name) => !known.has(name))).toEqual([]);
});
