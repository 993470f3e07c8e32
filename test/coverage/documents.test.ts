import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileTypeFromBuffer } from 'file-type';
import { expect, test } from 'vitest';
import { errorsPage } from '#tools/scripts/docs/errors-page.ts';
import { mailSections } from '#tools/scripts/docs/mail-facts.ts';
import { allExamples, mailsPage } from '#tools/scripts/docs/mails-page.ts';
import { settingsPage } from '#tools/scripts/docs/settings-page.ts';
import { mails } from '#web/mails/mails.ts';

const docs = join(import.meta.dirname, '../../docs');

test('docs/errors.md is what npm run docs writes from the catalog', () => {
  expect(readFileSync(join(docs, 'errors.md'), 'utf8')).toBe(errorsPage());
});

test('docs/settings.md is what npm run docs writes from the schema of the environment', () => {
  expect(readFileSync(join(docs, 'settings.md'), 'utf8')).toBe(settingsPage());
});

test('docs/mails.md is what npm run docs writes, and has each mail once', () => {
  const page = readFileSync(join(docs, 'mails.md'), 'utf8');
  expect(page).toBe(mailsPage());
  const described = mailSections.flatMap((section) => Object.keys(section.mails));
  expect(described.sort()).toEqual(Object.keys(mails).sort());
  for (const kind of Object.keys(mails)) expect(page.split(`- **Kind**: \`${kind}\`\n`)).toHaveLength(2);
});

test('each example in docs/mails.md has a small picture', async () => {
  const folder = join(docs, 'mails');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.'));
  expect(files.sort()).toEqual(
    allExamples()
      .map(({ picture }) => picture)
      .sort(),
  );
  for (const { picture } of allExamples()) {
    const bytes = readFileSync(join(folder, picture));
    expect([picture, (await fileTypeFromBuffer(bytes))?.mime]).toEqual([picture, 'image/webp']);
    expect(bytes.length, picture).toBeLessThanOrEqual(25_000);
  }
});
