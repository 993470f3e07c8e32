import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const linesMax = 40;

/** Lists of routes, pages and activities, and factories: functions that return an object of small functions. */
const isListOrFactory = /^(open|create|connect|start)[A-Z]|(Routes?|Pages|Activities)$/;

/** Other functions over the limit, and why they are not split. */
const long: Record<string, string> = {
  'edge/http/request.ts readFields': 'one pass over the raw fields, on the path of every request',
  'web/checks/measure.js measure': 'one script for a page: all its parts add to one list',
  'operator/backups/repository.ts bucketRepository': 'a factory: returns a repository in a bucket',
  'web/mails/layout.ts writeHtml': 'a template: the HTML of every mail',
};

/** Functions of the product over the limit, as `file name`; blank lines and comments are not counted. */
function tooLong(): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'frontage-lint-'));
  try {
    const config = join(folder, 'oxlintrc.json');
    const rule = ['error', { max: linesMax, skipBlankLines: true, skipComments: true, IIFEs: true }];
    writeFileSync(
      config,
      JSON.stringify({
        categories: { correctness: 'off' },
        rules: { 'eslint/max-lines-per-function': rule },
      }),
    );
    const oxlint = join(root, 'node_modules/.bin/oxlint');
    const { stdout } = spawnSync(oxlint, ['-c', config, '-f', 'unix', '.'], { cwd: root, encoding: 'utf8' });
    // Without a name it is a function in a route or a factory, which counts by itself.
    return [...stdout.matchAll(/^(\S+?):\d+:\d+: The .*?function (?:`(\w+)` )?has too many lines/gm)]
      .filter(([, file = '']) => !/^(templates|test|db\/migrations|providers\/sandbox\/image\/rehearsal)\//.test(file))
      .map(([, file, name]) => `${file} ${name ?? '(anonymous)'}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test(`functions except lists of routes and factories have at most ${linesMax} lines`, () => {
  const found = tooLong().filter((one) => !isListOrFactory.test(one.split(' ')[1] ?? ''));
  expect(found.filter((one) => !(one in long))).toEqual([]);
  expect(Object.keys(long).filter((one) => !found.includes(one))).toEqual([]);
});
