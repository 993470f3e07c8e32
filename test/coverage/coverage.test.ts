import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { catalog } from '#runtime/errors.ts';
import { codes } from './codes.ts';
import { claimed, type Row } from './row.ts';
import { rows, unshown } from './rows.ts';

const root = join(import.meta.dirname, '../..');
const text = (file: string) => readFileSync(join(root, file), 'utf8');
const named = ({ kind, name }: Row) => `${kind}: ${name}`;
const claims = rows.filter(({ by }) => claimed.includes(by));

/** The names of a file's tests: the strings that a call begins with and goes on after. */
function titles(file: string): string[] {
  if (!existsSync(join(root, file))) return [];
  const titled = /(?:\b(?:test|it)(?:\.\w+(?:\([^()]*\))?)*|\))\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1,/g;
  return [...text(file).matchAll(titled)].map(([, , title = '']) => title);
}

test('every claimed row has a test, or a reason why not', () => {
  const missing = claims.filter(({ shownBy, name }) => !shownBy && !unshown[name]);
  expect(missing.map(named)).toEqual([]);
  const open = claims.filter(({ shownBy }) => !shownBy).map((row) => `  ${named(row)}: ${unshown[row.name]}`);
  console.info(`${claims.length - open.length} of ${claims.length} claimed rows are shown.\n${open.join('\n')}`);
});

test('a row listed as unshown is claimed and unshown', () => {
  const open = claims.filter(({ shownBy }) => !shownBy).map(({ name }) => name);
  expect(Object.keys(unshown).filter((name) => !open.includes(name))).toEqual([]);
});

test('every test that a row names exists', () => {
  const gone = rows.filter(({ shownBy }) => shownBy && !titles(shownBy.file).some((t) => t.includes(shownBy.test)));
  expect(gone.map((row) => `${named(row)} <- ${row.shownBy?.file}: ${row.shownBy?.test}`)).toEqual([]);
});

test('no row is listed twice', () => {
  const names = rows.map(named);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test('every error code is listed, and no other', () => {
  expect(codes.map(({ name }) => name).sort()).toEqual(Object.keys(catalog).sort());
});

test('a test for an error code contains the code', () => {
  const words = ({ file }: { file: string }) => globSync(join(root, dirname(file), '*.ts')).map((f) => readFileSync(f));
  const unread = codes.filter(({ name, shownBy }) => shownBy && !words(shownBy).some((bytes) => bytes.includes(name)));
  expect(unread.map(named)).toEqual([]);
});

test('every route under /v1 is listed, and every claimed call has its route', () => {
  const route = /\.(get|post|put|patch|delete)\(\s*'(\/v1[^']*)'/g;
  const routes = globSync('api/*/{,*-}routes.ts', { cwd: root }).flatMap((file) =>
    [...text(file).matchAll(route)].map(
      ([, method = '', path = '']) =>
        `${method.toUpperCase()} ${path.replaceAll(/:(\w+)/g, '{$1}').replace('*', '{path}')}`,
    ),
  );
  expect(routes.length).toBeGreaterThan(20);
  const calls = (among: Row[]) => among.filter(({ kind }) => kind === 'endpoint').map(({ name }) => name);
  expect(routes.filter((name) => !calls(rows).includes(name))).toEqual([]);
  expect(calls(claims).filter((name) => name.includes(' /v1/') && !routes.includes(name))).toEqual([]);
});
