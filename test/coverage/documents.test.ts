import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { errorsPage } from '#tools/scripts/docs/errors-page.ts';
import { settingsPage } from '#tools/scripts/docs/settings-page.ts';

const docs = join(import.meta.dirname, '../../docs');

test('docs/errors.md is what npm run docs writes from the catalog', () => {
  expect(readFileSync(join(docs, 'errors.md'), 'utf8')).toBe(errorsPage());
});

test('docs/settings.md is what npm run docs writes from the schema of the environment', () => {
  expect(readFileSync(join(docs, 'settings.md'), 'utf8')).toBe(settingsPage());
});
