import { expect, test } from 'vitest';
import { createDraftReader } from '#activities/publishing/draft-reader.ts';
import { unusualDraftsMessage } from '#api/deployments/warnings/drafts.ts';
import { draftMarkOf, mayBeDraft, UnreadableFrontMatter } from '#providers/repositories/drafts.ts';

test.each([
  ['a.md', '---\ndraft: true\n---\n', true],
  ['a.md', '---\ndraft: "true"\n---\n', true],
  ['a.md', '---\r\ntitle: x\r\ndraft: True\r\n---\r\n', true],
  ['a.md', '\uFEFF---\ndraft: true\n---\n', true],
  ['a.md', '\n\n---\ndraft: true\n---\n', true],
  ['a.mdx', '+++\ndraft = true\n+++\n', true],
  ['a.mdoc', '---\ndraft: true\n---\n{% note %}', true],
  ['A.MD', '---\ndraft: true\n---\n', true],
  ['a.json', '{"draft": true}', true],
  ['a.yaml', 'draft: true', true],
  ['a.toml', 'draft = "true"', true],
  ['a.toml', 'draft = true', true],
  // What is remembered of a text is that of its format.
  ['a.yaml', 'draft = true', false],
  ...['yes', 'on', 'y', 'YES', 'True', '1', '"yes"', "' on '", '!!bool yes'].map((value): [string, string, boolean] => [
    'a.md',
    `---\ndraft: ${value}\n---\n`,
    true,
  ]),
  ['a.md', '---\nDraft: true\n---\n', true],
  ['a.md', '---\nDRAFT: yes\ndraft: false\n---\n', true],
  ['a.toml', 'Draft = 1', true],
  ...['no', 'off', 'n', '0', 'null', '""', 'soon', '2', '[true]'].map((value): [string, string, boolean] => [
    'a.md',
    `---\ndraft: ${value}\n---\n`,
    false,
  ]),
  ['a.md', '---\nisDraft: true\n---\n', false],
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
  if (!/\.(mdx?|mdoc)$/i.test(path)) expect(await reader.isDraft(path, long)).toBe(expected);
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

test('an unusual mark of a draft differs from draft: true', () => {
  const markOf = (text: string) => draftMarkOf({ format: 'yaml', text });
  expect(markOf('draft: true')).toBe('draft');
  for (const text of ['draft: yes', 'Draft: true', 'draft: "true"', 'draft: 1'])
    expect(markOf(text)).toBe('unusual draft');
  expect(markOf('draft: false')).toBe('no draft');
  expect(unusualDraftsMessage(['a.md'])).toContain('1 post is a draft and not published');
  expect(unusualDraftsMessage(['a', 'b', 'c', 'd', 'e', 'f'])).toContain('a, b, c, d, e and 1 more');
});
