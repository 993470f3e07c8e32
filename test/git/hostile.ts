/** Pushes that a site has to refuse: what is put into the tree, and the rule that is named. */
import { randomBytes } from 'node:crypto';
import type { Repository } from '#rules/states.ts';
import type { ErrorCode } from '#runtime/errors.ts';
import type { AnyFile } from './git.ts';

export type HostilePush = {
  /** Ends the sentence "a push is refused that brings …". */
  brings: string;
  repository?: Repository;
  files: AnyFile[];
  /** Files of the tip that the push takes away. */
  without?: string[];
  /** What the terminal says, beside the file. */
  says: RegExp;
  /** The file as the terminal names it; the first file's path unless said. */
  names?: string;
  /** The code that the same change gets by the API; undefined where no API call could ask for it. */
  code?: ErrorCode;
};

export const limits = { file_bytes: 100_000, site_files: 40, site_bytes: 1_000_000, push_bytes: 2_000_000 };

const frozen = (path: string, file: Partial<AnyFile> = {}): HostilePush => ({
  brings: JSON.stringify(path),
  files: [{ path, bytes: '{}', ...file }],
  says: /managed by the platform/,
  code: 'frozen_file',
});
const badPath = (path: string, says: RegExp, names = path): HostilePush => ({
  brings: JSON.stringify(path),
  files: [{ path, bytes: 'x' }],
  says,
  names,
  code: 'invalid_path',
});
const dotGit = (path: string) => badPath(path, /treats? as the \.git folder/, shown(path));
const crossing = (path: string, code: ErrorCode | null = 'crosses_repositories'): HostilePush => ({
  brings: JSON.stringify(path),
  files: [{ path, bytes: 'x' }],
  says: /belongs in the content repository/,
  ...(code ? { code } : {}),
});
const link = (path: string, to: string): HostilePush => ({
  brings: `a symbolic link ${path} to ${to}`,
  files: [{ path, mode: '120000', bytes: to }],
  says: /is a symbolic link/,
});
const submodule = (path: string): HostilePush => ({
  brings: `a submodule ${path}`,
  files: [{ path, mode: '160000', oid: 'c0ffee'.repeat(7).slice(0, 40) }],
  says: /is a submodule/,
});
/** As a terminal shows it: what is invisible is spelled out. */
function shown(path: string): string {
  return path.replace(/[\p{C}]/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

const many = (count: number, bytes: () => Buffer): AnyFile[] =>
  Array.from({ length: count }, (_, index) => ({ path: `many/${index}.bin`, bytes: bytes() }));

const frozenFiles: HostilePush[] = [
  ...[
    'package-lock.json',
    'npm-shrinkwrap.json',
    'yarn.lock',
    'pnpm-lock.yaml',
    'pnpm-workspace.yaml',
    'bun.lock',
    'bun.lockb',
    'deno.lock',
    '.npmrc',
    '.yarnrc',
    '.yarnrc.yml',
    '.pnpmfile.cjs',
    'src/package.json',
    'docs/a/b/yarn.lock',
    'public/.npmrc',
    'src/content/package.json',
    'Package.JSON',
    'src/PACKAGE-LOCK.json',
    '.NPMRC',
    'package.json.',
    'package.json ',
    'package.json:$DATA',
    'src/package.json/readme.md',
  ].map((path) => frozen(path)),
  { ...frozen('package\u200c.json'), names: 'package\\u{200c}.json' },
  { ...frozen('package.json', { bytes: '{"name":"mine"}' }), brings: 'a changed package.json' },
  {
    brings: 'no package.json any more',
    files: [],
    without: ['package.json'],
    names: 'package.json',
    says: /cannot be removed/,
    code: 'frozen_file',
  },
  { ...link('package.json', '/etc/passwd'), says: /managed by the platform/ },
  { ...frozen('package.json'), brings: 'package.json in the content repository', repository: 'content' },
  { ...frozen('posts/.npmrc'), brings: '.npmrc in a folder of the content repository', repository: 'content' },
];

const names: HostilePush[] = [
  ...[
    '.git/config',
    '.GIT/config',
    '.Git',
    'src/.git/hooks/post-checkout',
    'git~1/config',
    'GIT~1',
    '.git./config',
  ].map(dotGit),
  ...['.git /config', '.git...', '.g\u200cit/config', '.git\u200e', '.git::$INDEX_ALLOCATION/config', 'a/b/.gIt'].map(
    dotGit,
  ),
  ...['.gitmodules', 'src/.GitModules', 'gitmod~1', 'GI7EBA~1'].map((path) => badPath(path, /lists git submodules/)),
  badPath('a\\b.txt', /backslash/),
  badPath('tab\there.txt', /control character/, 'tab\\u{9}here.txt'),
  badPath('line\nbreak.txt', /control character/, 'line\\u{a}break.txt'),
  badPath('red\u001b[31m.txt', /control character/, 'red\\u{1b}[31m.txt'),
  badPath('next\u0085.txt', /control character/, 'next\\u{85}.txt'),
  badPath(`${'n'.repeat(256)}.txt`, /longer than 255 bytes/, 'nnnn'),
  badPath(Array.from({ length: 20 }, () => 'd'.repeat(60)).join('/'), /longer than 1024 bytes/, 'dddd'),
  { ...badPath('..', /"\." or "\.\."/), code: 'invalid_path' },
  badPath('src/../../etc', /"\." or "\.\."/),
  badPath('./a.txt', /"\." or "\.\."/),
  {
    brings: 'a name that is not UTF-8',
    files: [{ path: '?', raw: Buffer.from([0x61, 0xff, 0x62]) }],
    says: /not UTF-8/,
    names: 'a',
  },
];

const kinds: HostilePush[] = [
  link('link', '/etc/passwd'),
  link('src/up', '../..'),
  link('src/assets/a.png', 'b.png'),
  link('.gitattributes', 'src'),
  submodule('module'),
  submodule('src/module'),
  { ...link('posts/a.md', '../b.md'), repository: 'content' },
];

const crossings: HostilePush[] = [
  crossing('src/content/a.md', null),
  crossing('src/Content/a.md'),
  crossing('SRC/content/a.md'),
  crossing('src/content./a.md'),
  crossing('src/content'),
];

const sizes: HostilePush[] = [
  {
    brings: 'a file over the cap',
    files: [{ path: 'src/big.bin', bytes: randomBytes(limits.file_bytes + 1) }],
    says: /exceeds the size limit of 100000 bytes per file/,
    code: 'plan_limit',
  },
  {
    brings: 'more files than a site may have',
    files: many(limits.site_files, () => Buffer.from('x')),
    names: 'The source repository',
    says: /more than 40 files/,
    code: 'plan_limit',
  },
  {
    brings: 'more bytes than a site may have',
    files: many(11, () => randomBytes(95_000)),
    names: 'The source repository',
    says: /more than 1000000 bytes/,
  },
];

/** All but those of a wrong format. */
export const hostilePushes = [...frozenFiles, ...names, ...kinds, ...crossings, ...sizes];
