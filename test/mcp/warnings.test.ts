import { expect, test } from 'vitest';
import { withBriefWarnings } from '#api/mcp/warnings.ts';

test('warnings are one sentence for each cause, and one for texts of a template', () => {
  const placeholder = (path: string, target: string) => ({
    kind: 'template_text',
    path,
    target,
    message: `${path} shows “${target}” of the template.`,
    count: 1,
    places: [path],
  });
  const broken = { kind: 'broken_link', path: 'a.html', message: 'a.html links to /b, which is missing.' };
  const items = [
    placeholder('index.html', 'Your name'),
    { ...broken, count: 3, places: ['a.html', 'c.html'] },
    placeholder('index.html', 'Your town'),
    placeholder('about.html', 'A sentence'),
  ];
  const { warnings } = withBriefWarnings({ id: 'dep_1', warnings: { items, counts: {}, pages: { read: 1, all: 1 } } });
  expect(warnings).toEqual({
    items: [
      'a.html links to /b, which is missing. (3 in all: a.html, c.html)',
      expect.stringMatching(/First places: index\.html “Your name” “Your town”; about\.html “A sentence”$/),
    ],
    pages: { read: 1, all: 1 },
  });
  expect(withBriefWarnings({ id: 'site_1' })).toEqual({ id: 'site_1' });
});
