/** One list of paths for every entry point, and what each has to say: most are hostile, some only look so. */

export type Sample = {
  path: string;
  /** Its bytes, where they are no UTF-8 and `path` is only how it is shown. */
  raw?: Buffer;
  source: 'taken' | 'invalid_path' | 'frozen_file';
  output: 'taken' | 'invalid_path';
};

const refused = (paths: string[]): Sample[] =>
  paths.map((path) => ({ path, source: 'invalid_path', output: 'invalid_path' }));
const taken = (paths: string[]): Sample[] => paths.map((path) => ({ path, source: 'taken', output: 'taken' }));
const frozen = (paths: string[]): Sample[] => paths.map((path) => ({ path, source: 'frozen_file', output: 'taken' }));

// biome-ignore format: a list
const climbs = [
  '.', '..', '../x', '../../x', '../../../../etc/passwd', 'a/..', 'a/../x', 'a/../../x', 'a/b/../../../x', './x', 'a/.', 'a/./x', './.', '../.',
  './../x', '.././x', 'a/b/..', 'a/../b/../c', '../', './', '../site/x', 'src/../src/x', 'src/pages/../../../x', '../.git/config', 'posts/../../x.md',
  'a/../.git/hooks/post-checkout', '../../../proc/self/environ', '..//x', 'a/..//x', 'a//..',
];

// biome-ignore format: a list
const separators = [
  '/', '//', '/x', '//x', '///x', '/etc/passwd', 'a//b', 'a///b', 'a/', 'a//', 'a/b/', '//server/share', '/./x', '/../x', 'a/b//c.html', 'x/',
  '\\', 'a\\b', '\\x', '..\\x', '..\\..\\x', 'a\\..\\x', '\\\\server\\share', '\\\\?\\C:\\x', '\\\\.\\PhysicalDrive0', 'a/\\b', 'a\\', '.git\\config',
  'C:', 'c:', 'C:/x', 'C:x', 'c:\\x', 'z:/windows/win.ini', 'C:../x', 'C:/../x', 'a:b', 'a:$DATA', 'c:.git/config', '', '/a:b', 'b:c/d',
];

// biome-ignore format: a list
const controls = [
  ...Array.from({ length: 32 }, (_, code) => `a${String.fromCharCode(code)}b`),
  'a\u007fb', 'a\u0080b', 'a\u0085b', 'a\u009bb', 'a\u009f', '\u0000', '\u0000a', 'index.html\u0000.png', 'a\r\nSet-Cookie: a=b', 'a\nM 100644 inline b',
  '\u001b[31mred', 'a\u001b]0;title\u0007', 'a\n', '\na', 'dir\n/x', 'dir/\tx', '.git\u0000', 'a\u0007/b', 'package.json\n', 'a\u0000/../x',
];

// biome-ignore format: a list
const gitFolder = [
  '.git', '.git/config', '.git/HEAD', '.git/hooks/post-checkout', '.GIT', '.Git/config', '.gIT', '.giT/objects', 'src/.git', 'src/.git/x', 'a/b/c/.git/config',
  'git~1', 'GIT~1', 'Git~1/config', 'a/git~1/x', '.git.', '.git..', '.git...', '.git ', '.git  ', '.git. .', '.git /config', '.git. /x', 'git~1.', 'git~1 ',
  '.git::$INDEX_ALLOCATION', '.git::$INDEX_ALLOCATION/config', '.git:x', '.git:$DATA', 'git~1::$INDEX_ALLOCATION/x', '.GIT::$INDEX_ALLOCATION',
  ...['200c', '200d', '200e', '200f', '202a', '202b', '202c', '202d', '202e', '206a', '206b', '206c', '206d', '206e', '206f', 'feff'].flatMap((hex) => {
    const ignored = String.fromCharCode(Number.parseInt(hex, 16));
    return [`.g${ignored}it/config`, `.git${ignored}`, `a/${ignored}.GIT`];
  }),
  '.\u200cg\u200di\u200et', '\ufeff.git\ufeff/x', '.g\u200cit. /config', '.git\u202e.', 'g\u200cit~1/x',
];

const tooLong = [
  'n'.repeat(256),
  `${'n'.repeat(252)}.html`,
  `${'é'.repeat(128)}`,
  `${'漢'.repeat(86)}`,
  `a/${'n'.repeat(300)}/b`,
  `${'n'.repeat(255)}x/y`,
  `${'d/'.repeat(512)}x`,
  `${'dd/'.repeat(342)}x`,
  `${'é/'.repeat(342)}x`,
  `${`${'n'.repeat(200)}/`.repeat(6)}x`,
  'x'.repeat(5000),
  `${'a/'.repeat(1000)}b`,
  `${'😀'.repeat(64)}`,
  `a/${'e\u0301'.repeat(86)}`,
  `${'ab/'.repeat(341)}xy`,
  `${'../'.repeat(400)}x`,
  `${'/'.repeat(2000)}`,
  `.git/${'n'.repeat(300)}`,
];

// biome-ignore format: a list
const notUtf8: Sample[] = [
  [0xff], [0x61, 0xff, 0x62], [0xc0, 0xaf], [0xc0, 0xae, 0xc0, 0xae], [0xc1, 0x9c], [0xe0, 0x80, 0xaf], [0xe0, 0x80, 0xae], [0xf0, 0x80, 0x80, 0xaf],
  [0xf8, 0x80, 0x80, 0x80, 0xaf], [0xfc, 0x80, 0x80, 0x80, 0x80, 0xaf], [0xed, 0xa0, 0x80], [0xed, 0xbf, 0xbf], [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80],
  [0x80], [0xbf], [0xc3], [0xc3, 0x28], [0xe2, 0x82], [0xe2, 0x28, 0xa1], [0x63, 0x61, 0x66, 0xe9], [0xfe, 0xff, 0x61],
].map((bytes) => ({ path: Buffer.from(bytes).toString('utf8'), raw: Buffer.from(bytes), source: 'invalid_path', output: 'invalid_path' }));

const malformed = refused([
  '\ufffd',
  'a\ufffdb',
  '\ud800',
  'a\udc00',
  'a/\ud83d',
  '\udc00\ud800',
  'a\ud800/../x',
  'x\ufffd/y',
  '\ufffd\ufffd/..',
  '\udfff/x',
]);

// biome-ignore format: a list
const platforms = frozen([
  'package.json', 'package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', 'bun.lock', 'bun.lockb', 'deno.lock', '.npmrc',
  '.yarnrc', '.yarnrc.yml', '.pnpmfile.cjs', 'src/package.json', 'docs/a/b/yarn.lock', 'node_modules/x/package.json', 'Package.json', 'PACKAGE.JSON',
  'src/Package-Lock.JSON', '.NPMRC', '.Npmrc', 'package.json.', 'package.json..', 'package.json ', 'package.json . ', 'package.json::$DATA', 'package.json:x',
  'package.json/readme.md', 'src/package.json/a/b', 'pack\u200cage.json', '\ufeffpackage.json', '.npmrc\u202e', 'YARN.LOCK.', 'Bun.lockb:$DATA', 'src/.pnpmfile.CJS ',
]);

// biome-ignore format: a list
const submodules: Sample[] = [
  '.gitmodules', '.GitModules', '.GITMODULES', 'src/.gitmodules', '.gitmodules.', '.gitmodules ', '.gitmodules:$DATA', '.gitmodules::$DATA', 'gitmod~1', 'GITMOD~2',
  'gitmod~4', 'gi7eba~1', 'GI7EBA~9', 'GI7D29~1', '.gitmod\u200cules', '.gitmodules\u200e',
].map((path) => ({ path, source: 'invalid_path', output: 'taken' }));

// biome-ignore format: a list
const lookingBad = taken([
  'index.html', 'a', 'src/pages/index.astro', 'a b/100% (true)/index.html', 'café/menü.html', 'cafe\u0301/menu\u0308.html', '漢字/日本.html', 'صفحة/العربية.html',
  '😀.html', 'family-👨\u200d👩\u200d👧.png', 'می\u200cخواهم.html', '%2e%2e', '%2e%2e/secret.txt', '%2e%2e%2fsecret.txt', '%252e%252e', 'a%00b', 'a%5cb', '...', '..a', 'a..', 'a..b', '.a',
  '.../x', '..../x', 'a/.../b', '. .', '.. ', ' ..', ' ', 'a ', ' a', 'a.', 'a .html', '.env', '.htaccess', '.well-known/security.txt', '.github/workflows/a.yml', '.gitignore', '.gitattributes',
  '.gitkeep', 'git', 'agit', '.gitt', 'x.git', 'x.git/config', '.git_', '.git-x', 'git~2', 'git~10', '_git/config', 'g/it', 'CON', 'con.html', 'nul', 'NUL.txt', 'aux.md', 'prn', 'com1', 'LPT9.html',
  'src/aux/index.astro', 'CONIN$', 'A.html', 'a.html', 'INDEX.HTML', 'Index.html', 'STRASSE.html', 'straße.html', 'ı.html', 'İ.html', 'K.html', '\u212a.html', '\u202etxt.exe', 'a\u200bb.html', '\ufeffindex.html',
  'a\u00a0b.html', 'a\u2028b.html', 'a\u2029b', 'a\u2024\u2024/x', '\uff0e\uff0e/x', 'a\uff0fb', '\u2215etc\u2215passwd', '\u29f5x', 'file.txt~', '~', '~root/x', '$HOME/x', '$(id)', '`id`', 'a;b', 'a|b', 'a&b',
  "'; drop table site; --", '"quoted"', '<script>.html', '{a,b}.html', '[a-z].html', '*.html', 'a?b', 'a#b', '?', '#', '-rf', '--help', '-', '@{u}', 'HEAD', 'refs/heads/main', 'ab:c', 'a/b:c',
  'index.html::$DATA', 'web.config', 'etc/passwd', 'proc/self/environ', 'http:/x', '__proto__', '__proto__/x', 'constructor', 'toString', 'hasOwnProperty/index.html', 'package.json.md', 'npmrc',
  'packagejson', 'my-package.json', 'package.jsonc', 'gitmodules', '.gitmodules.md', 'gitmod~5', '_astro/index.DxY3_a1b.css', 'n'.repeat(255), `${'d/'.repeat(511)}xx`, `${'漢'.repeat(85)}`, '\ue000', '\u{10ffff}',
]);

export const corpus: readonly Sample[] = [
  ...refused([...climbs, ...separators, ...controls, ...gitFolder, ...tooLong]),
  ...malformed,
  ...notUtf8,
  ...platforms,
  ...submodules,
  ...lookingBad,
];
