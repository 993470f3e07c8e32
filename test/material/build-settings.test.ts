import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { loadEnv } from 'vite';
import { expect, onTestFinished, test } from 'vitest';
import { checkContent, checkTree } from '#git/rules.ts';
import {
  defaultSettings,
  looksLikeKey,
  parseBuildSettings,
  renderVariables,
  UnusableSettings,
  variablesFile,
} from '#providers/build-settings.ts';
import type { Limits } from '#rules/limit-names.ts';

const parse = (text: string | Buffer) => parseBuildSettings(Buffer.from(text));

test('all settings of a file are read', () => {
  const file =
    'publish_on_push = true\n[build]\nroot = "apps/web/"\n[env]\nPUBLIC_API_URL = "https://api.example"\n[branches]\n"design" = 2\n"ada/shop-2.0" = 5\n';
  expect(parse(file)).toEqual({
    root: 'apps/web/',
    env: { PUBLIC_API_URL: 'https://api.example' },
    publishOnPush: true,
    branches: new Map([
      ['design', 2],
      ['ada/shop-2.0', 5],
    ]),
  });
  expect(parse('\uFEFF# nothing\r\n')).toEqual(defaultSettings);
});

const many = Array.from({ length: 51 }, (_, at) => `PUBLIC_${at} = ""`).join('\n');

test.each([
  ['more than its limit', `# ${'x'.repeat(16_384)}`, 'is larger than 16 KiB'],
  ['bytes that are not text', Buffer.from([0xff, 0xfe, 0]), 'is not UTF-8 text'],
  ['broken syntax', '[build]\nroot = apps', 'is not valid TOML: line 2'],
  ['a key twice', '[build]\nroot = "a"\nroot = "b"', 'is not valid TOML: line 3'],
  ['a table twice', '[build]\nroot = "a"\n[build]\nroot = "b"', 'is not valid TOML: line 3'],
  ['a control character', 'a = true\u0000', 'is not valid TOML: line 1'],
  ['very deep nesting', `a = ${'['.repeat(8_000)}`, 'is n'],
  ['__proto__ as a key', '__proto__ = 1', 'has the key __proto__'],
  ['__proto__ as a table', '[__proto__]\nroot = "a"', 'has the key __proto__'],
  ['__proto__ as a variable', '[env]\n"__proto__" = "a"', 'has the key __proto__'],
  ['constructor in the build', '[build.constructor]\nprototype = 1', 'has the key constructor'],
  ['an unknown setting', 'command = "rm"', 'has an unknown setting, command'],
  ['an unknown setting of the build', '[build]\ncommand = "rm"', 'has an unknown setting, command'],
  ['a list for a table', 'build = []', 'build must be a table'],
  ['a number for the folder', '[build]\nroot = 1', 'build.root must be text'],
  ['.. in the folder', '[build]\nroot = "apps/../.."', 'build.root has a "." or ".."'],
  ['an absolute folder', '[build]\nroot = "/etc"', 'build.root must be relative'],
  ['a drive as the folder', '[build]\nroot = "C:/x"', 'build.root begins with a Windows drive'],
  ['a backslash in the folder', "[build]\nroot = 'a\\b'", 'build.root has a backslash'],
  ['the folder .git', '[build]\nroot = "a/.GIT"', 'build.root has a name that some systems treat as the .git folder'],
  ['the folder of content', '[build]\nroot = "src/content/x"', 'build.root must not be in src/content'],
  ['a secret', '[env]\nSTRIPE_KEY = "sk"', 'env has the variable STRIPE_KEY: names begin with PUBLIC_'],
  ['a variable with a line break in its name', '[env]\n"PUBLIC_A\\nB" = ""', 'env has the variable'],
  ['a variable in small letters', '[env]\nPUBLIC_a = ""', 'env has the variable PUBLIC_a'],
  ['a variable of two lines', '[env]\nPUBLIC_A = """a\nb"""', 'env.PUBLIC_A must be one line'],
  ['a number as a variable', '[env]\nPUBLIC_A = 1', 'env.PUBLIC_A must be text in quotes'],
  ['a date as a variable', '[env]\nPUBLIC_A = 2026-11-27', 'env.PUBLIC_A must be text in quotes'],
  ['a long variable', `[env]\nPUBLIC_A = "${'x'.repeat(2_049)}"`, 'env.PUBLIC_A must have at most 2048'],
  ['all quotes in a variable', `[env]\nPUBLIC_A = "'\`\\""`, 'env.PUBLIC_A must not contain all'],
  ['text for a choice', 'publish_on_push = "true"', 'publish_on_push must be true or false'],
  ['a number for a choice', 'publish_on_push = 1', 'publish_on_push must be true or false'],
  ['main in a slot', '[branches]\nmain = 1', 'branches has the branch main, which cannot be shown in a slot'],
  ['Main in a slot', '[branches]\nMain = 1', 'branches has the branch Main'],
  ['a branch below main', '[branches]\n"main/x" = 1', 'branches has the branch main/x'],
  ['a slot in another slot', '[branches]\n"preview/1" = 2', 'branches has the branch preview/1'],
  ['HEAD in a slot', '[branches]\nHEAD = 1', 'branches has the branch HEAD'],
  ['a branch out of its folder', '[branches]\n"../../x" = 1', 'branches has the branch ../../x'],
  ['a branch .. inside', '[branches]\n"a..b" = 1', 'branches has the branch a..b'],
  ['a hidden branch', '[branches]\n".x" = 1', 'branches has the branch .x'],
  ['a branch that is an option', '[branches]\n"-x" = 1', 'branches has the branch -x'],
  ['a lock as a branch', '[branches]\n"a.lock" = 1', 'branches has the branch a.lock'],
  ['a lock as a folder', '[branches]\n"a.lock/b" = 1', 'branches has the branch a.lock/b'],
  ['a branch of the reflog', '[branches]\n"a@{1}" = 1', 'branches has the branch a@{1}'],
  ['a pattern of branches', '[branches]\n"a*" = 1', 'branches has the branch a*'],
  ['a branch in letters like those of main', '[branches]\n"m\u0430in" = 1', 'branches has the branch m'],
  ['a branch with a space', '[branches]\n"a b" = 1', 'branches has the branch a b'],
  ['a branch with a line break', '[branches]\n"a\\nb" = 1', 'branches has the branch a'],
  ['an empty branch', '[branches]\n"" = 1', 'branches has the branch '],
  ['a long branch', `[branches]\n"${'a'.repeat(101)}" = 1`, 'branches has the branch aaa'],
  ['a branch below another', '[branches]\na = 1\n"a/b" = 2', 'branches has the branch a and another one below it'],
  ['two branches in one slot', '[branches]\na = 1\nb = 1', 'branches has two branches for slot 1'],
  ['slot 0', '[branches]\na = 0', 'branches.a must be at least 1'],
  ['a slot that is text', '[branches]\na = "1"', 'branches.a must be the number of a preview slot'],
  ['a list of slots', '[branches]\na = [1]', 'branches.a must be the number of a preview slot'],
  ['half a slot', '[branches]\na = 1.5', 'branches.a must be the number of a preview slot'],
  ['too many variables', `[env]\n${many}`, 'env must have at most 50 variables'],
])('a file with %s is refused by its line or field', async (_what, file, message) => {
  expect(() => parse(file)).toThrow(UnusableSettings);
  expect(() => parse(file)).toThrow(message);
  async function* bytes() {
    for (const byte of Buffer.from(file)
      .subarray(0, 20_000)
      .toString('latin1')
      .match(/.{1,999}/gs) ?? [])
      yield Buffer.from(byte, 'latin1');
  }
  expect(await checkContent('source', 'frontage.toml', bytes())).toMatchObject({
    code: 'invalid_file',
    path: 'frontage.toml',
  });
  expect(Object.keys(Object.prototype)).toEqual([]);
});

test.each([
  ['sk_live_51HqLyjWDarjtT1zdp7dc', true],
  ['ghp_16C7e42F292c6912E7710c838347Ae178B4a', true],
  ['AKIAIOSFODNN7EXAMPLE', true],
  ['-----BEGIN PRIVATE KEY-----', true],
  ['pk_live_51HqLyjWDarjtT1zdp7dc', false],
  ['G-ABC123DEF4', false],
  ['https://example.com/sk_live', false],
  ['sk', false],
])('%s looks like a secret key: %s', (value, looks) => {
  expect(looksLikeKey(value)).toBe(looks);
});

test.each(['120000', '160000'])('a link of mode %s in place of the file is refused', (mode) => {
  const rules = {
    repository: 'source',
    platform: new Map(),
    limits: { file_bytes: 1, site_files: 1, site_bytes: 1 } as Limits,
    lift: () => '',
  } as const;
  const [verdict] = checkTree(rules, [], [{ path: 'frontage.toml', oid: '1'.repeat(40), mode }]);
  expect(verdict).toMatchObject({ code: 'invalid_file', path: 'frontage.toml' });
});

test('every value that is accepted reaches the build unchanged', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'variables-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const values = fc.oneof(fc.string({ maxLength: 40 }), fc.string({ unit: fc.constantFrom(...'\'"`$\\{}n a#=:-') }));
  await fc.assert(
    fc.asyncProperty(fc.array(values, { minLength: 1, maxLength: 5 }), async (all) => {
      const toml = all.map((text, at) => `PUBLIC_V${at} = ${JSON.stringify(text).replaceAll('\u007f', '\\u007f')}`);
      let env: Record<string, string>;
      try {
        ({ env } = parse(`[env]\n${toml.join('\n')}`));
      } catch {
        return fc.pre(false);
      }
      await writeFile(join(folder, variablesFile), renderVariables(env));
      expect(loadEnv('production', folder, 'PUBLIC_')).toEqual(env);
    }),
  );
});
