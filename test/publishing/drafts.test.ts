import { expect, test } from 'vitest';
import { createDraftReader } from '#activities/publishing/draft-reader.ts';
import { mayBeDraft, UnreadableFrontMatter } from '#activities/publishing/drafts.ts';

test.each([
  ['a.md', '---\ndraft: true\n---\n', true],
  ['a.md', '---\ndraft: "true"\n---\n', true],
  ['a.md', '---\r\ntitle: x\r\ndraft: True\r\n---\r\n', true],
  ['a.md', '\uFEFF---\ndraft: true\n---\n', true],
  ['a.md', '\n\n---\ndraft: true\n---\n', true],
  ['a.mdx', '+++\ndraft = true\n+++\n', true],
  ['A.MD', '---\ndraft: true\n---\n', true],
  ['a.json', '{"draft": true}', true],
  ['a.yaml', 'draft: true', true],
  ['a.toml', 'draft = "true"', true],
  ['a.md', '---\ndraft: false\n---\n', false],
  ['a.md', '---\nmeta:\n  draft: true\n---\n', false],
  ['a.md', 'No front matter.\n\ndraft: true\n', false],
  ['a.json', '[{"draft": true}]', false],
  ['a.yml', 'title: x', false],
])('%s with %j is a draft: %j', async (path, text, expected) => {
  await using reader = createDraftReader();
  expect(await reader.isDraft(path, text)).toBe(expected);
  // The same in a thread, which reads long texts.
  const long = path.endsWith('.json') ? `${text}${' '.repeat(5_000)}` : `${text}\n${'# long\n'.repeat(1_000)}`;
  if (!/\.mdx?$/i.test(path)) expect(await reader.isDraft(path, long)).toBe(expected);
});

test.each([
  ['a.md', '---\ntitle: [never closed\n---\n'],
  ['a.md', '---\ndraft: true\nand no end\n'],
  ['a.mdx', '+++\ndraft = \n+++\n'],
  ['a.json', '{'],
  ['a.toml', '= 1'],
])('%s with %j is ambiguous, and never published', async (path, text) => {
  await using reader = createDraftReader();
  await expect(reader.isDraft(path, text)).rejects.toThrow(UnreadableFrontMatter);
});

test('pictures and tables are not drafts', () => {
  expect(['a.png', 'a.csv', 'a.md.jpg'].some(mayBeDraft)).toBe(false);
});

test('data that take long to read are refused and delay nothing else', async () => {
  const keys = Array.from({ length: 100_000 }, (_, at) => `key${at}: 1`).join('\n');
  await using reader = createDraftReader(1_000);
  expect(await reader.isDraft('a.yml', `draft: true\nabout: ${'words '.repeat(2_000)}`)).toBe(true);
  const before = process.threadCpuUsage();
  const refused = reader.isDraft('a.yml', keys);
  await expect(refused).rejects.toThrow('takes too long to read');
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(200);
  // The time is that of all files together.
  await expect(reader.isDraft('b.yml', 'draft: true')).rejects.toThrow('takes too long to read');
});
