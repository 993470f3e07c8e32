/** Documents name files that exist and link to sections that exist; tool files agree with package.json. */
import { basename, dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { files, text } from '#test/source-files.ts';

const names = new Set(files.map((file) => basename(file)));
const folders = new Set(files.filter((file) => file.includes('/')).map((file) => file.split('/')[0]));

/** The skill and the starters name files of sites, not of this repository. */
const documents = files.filter((file) => file.endsWith('.md') && !/^(skill|templates|providers\/sandbox)\//.test(file));

/** Inline code and code blocks: a fence becomes one backtick, so that a block is one match. */
const codeOf = (file: string) =>
  [
    ...text(file)
      .replace(/^\s*```.*$/gm, '`')
      .matchAll(/`([^`]+)`/g),
  ].map(([, code = '']) => code);

/** Whether the tree has this path: a file, a folder, a file without its ending, or a pattern with `*`. */
function exists(path: string): boolean {
  const pattern = path.replace(/[.+]/g, '\\$&').replace(/\*+/g, '[^/]*').replace(/\/$/, '');
  const matching = new RegExp(`^${pattern}([./]|$)`);
  return files.some((file) => matching.test(file));
}

/** A path is checked if it begins with a folder of the root; a name alone if it ends like source. */
function isMissing(word: string): boolean {
  const path = word.replace(/^#/, '');
  if (path.includes('/')) return folders.has(path.split('/')[0] ?? '') && !exists(path);
  return /^[\w-]+(\.[\w-]+)*\.(ts|mjs|css|yml|cfg|sh)$/.test(path) && !names.has(path);
}

test('every path that a document names exists', () => {
  // History keeps the names of its day.
  const current = documents.filter((file) => !file.startsWith('docs/history/'));
  const missing = current.flatMap((file) =>
    codeOf(file)
      .flatMap((code) => code.split(/[\s'"(),:;=]+/))
      .filter((word) => /^#?[\w.*/-]+$/.test(word) && isMissing(word))
      .map((word) => `${file}: ${word}`),
  );
  expect(missing).toEqual([]);
});

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string) =>
  heading
    .replace(/^#+ /, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

function isBroken(file: string, path: string, anchor: string | undefined): boolean {
  const target = path === '' ? file : relative('', join(dirname(file), path));
  if (!exists(target)) return true;
  if (anchor === undefined) return false;
  return !text(target)
    .split('\n')
    .some((line) => line.startsWith('#') && anchorOf(line) === anchor);
}

test('every link between documents leads to a file and a section that exist', () => {
  const broken = documents.flatMap((file) =>
    [...text(file).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
      .filter(([, path = '', anchor]) => isBroken(file, path, anchor))
      .map(([link]) => `${file}: ${link}`),
  );
  expect(broken).toEqual([]);
});

test('decisions are numbered without gaps, and each begins with its number', () => {
  const decisions = files.filter((file) => /^docs\/decisions\/\w+\/\d+-.*\.md$/.test(file));
  const numbers = decisions.map((file) => basename(file).slice(0, 3)).sort();
  expect(numbers).toEqual(numbers.map((_, index) => String(index + 1).padStart(3, '0')));
  expect(decisions.filter((file) => !text(file).startsWith(`# ${basename(file).slice(0, 3)} `))).toEqual([]);
});

test('version managers, packages and images name the same version of Node', () => {
  const version = text('.nvmrc').trim();
  const { optionalDependencies } = JSON.parse(text('tools/node/package.json'));
  expect(new Set(Object.values(optionalDependencies))).toEqual(new Set([version]));
  for (const image of ['Dockerfile', '.devcontainer/devcontainer.json'])
    expect(text(image)).toContain(`node:${version}-bookworm`);
});
