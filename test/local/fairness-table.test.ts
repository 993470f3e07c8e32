/** SECURITY.md's table of who can starve whom. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const page = await readFile(join(root, 'SECURITY.md'), 'utf8');
const table = page
  .slice(page.indexOf('## Who can starve whom'))
  .split('\n\n')
  .find((part) => part.startsWith('| '));
const [header = [], , ...rows] = (table ?? '').split('\n').map((line) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim()),
);

test('each row of “Who can starve whom” names a bound, who waits, and tests', () => {
  expect(header).toEqual(['an account starts', 'bound', 'who waits, and how long', 'test']);
  expect(rows.length).toBeGreaterThan(15);
  for (const row of rows) {
    const [starts, bound, waits] = row;
    expect([starts, row.length]).toEqual([starts, 4]);
    expect(bound, starts).toMatch(/\d|half|one|`\w+`/);
    expect(waits, starts).toMatch(/\w{4}/);
  }
});

test.each(rows.map(([starts = '', , , tests = '']) => [starts, tests]))(
  'the tests of %s exist',
  async (_starts, tests) => {
    const files = [...tests.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file);
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect(await readFile(join(root, file), 'utf8')).toMatch(/^\s*test(\.each)?\(/m);
  },
);
