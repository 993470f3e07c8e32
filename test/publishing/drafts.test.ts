import { expect, test } from 'vitest';
import { isDraft, mayBeDraft, UnreadableFrontMatter } from '#activities/publishing/drafts.ts';

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
])('%s with %j is a draft: %j', (path, text, expected) => {
  expect(isDraft(path, text)).toBe(expected);
});

test.each([
  ['a.md', '---\ntitle: [never closed\n---\n'],
  ['a.md', '---\ndraft: true\nand no end\n'],
  ['a.mdx', '+++\ndraft = \n+++\n'],
  ['a.json', '{'],
  ['a.toml', '= 1'],
])('%s with %j is ambiguous, and never published', (path, text) => {
  expect(() => isDraft(path, text)).toThrow(UnreadableFrontMatter);
});

test('pictures and tables are not drafts', () => {
  expect(['a.png', 'a.csv', 'a.md.jpg'].some(mayBeDraft)).toBe(false);
});
