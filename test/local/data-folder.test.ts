/** A third user of the machine reads nothing in the data folder. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { protectDataFolder } from '#tools/local/data-folder.ts';
import { lockFolder } from '#tools/local/lock.ts';

const files = [
  'secret',
  'repositories/a.git/HEAD',
  'store/sha256/ab/cd',
  'store/caches/x',
  'edge/sites.db',
  'logs/api.log',
  'sandbox/0123456789abcdef/opt/runner.mjs',
  'later/added.txt',
];

/** A protected data folder. */
function protectedFolder(): string {
  const root = mkdtempSync(join(tmpdir(), 'frontage-data-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  chmodSync(root, 0o755);
  const data = join(root, 'data');
  for (const file of files) {
    mkdirSync(dirname(join(data, file)), { recursive: true, mode: 0o755 });
    writeFileSync(join(data, file), 'x', { mode: 0o644 });
  }
  protectDataFolder(data);
  return data;
}

test('other users can only pass through the folders of builds', () => {
  const data = protectedFolder();
  const mode = (name: string) => (statSync(join(data, name)).mode & 0o777).toString(8);
  expect(['', 'postgres', 'sandbox', 'store', 'repositories', 'later', 'secret'].map(mode)).toEqual([
    '711',
    '711',
    '711',
    '700',
    '700',
    '700',
    '600',
  ]);
});

test('other users list and read nothing, and builds read their image', ({ skip }) => {
  skip(process.getuid?.() !== 0, 'run the tests as root');
  const data = protectedFolder();
  const as = (user: string, script: string) =>
    execFileSync('setpriv', ['--reuid', user, '--regid', user, '--clear-groups', 'sh', '-c', script], {
      encoding: 'utf8',
      cwd: '/',
    });
  const reads = files.map((file) => `cat '${join(data, file)}' 2>/dev/null && echo ' ${file}'`).join(';');
  expect(as('65534', `find '${data}' -mindepth 1 2>/dev/null; true`)).toBe('');
  expect(as('65534', `${reads}; true`).trim()).toBe('x sandbox/0123456789abcdef/opt/runner.mjs');
  expect(as('10001', `cat '${join(data, 'sandbox/0123456789abcdef/opt/runner.mjs')}'`)).toBe('x');
});

test('a folder of other files is refused and left as it is', () => {
  const home = mkdtempSync(join(tmpdir(), 'frontage-home-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  mkdirSync(join(home, 'letters'), { mode: 0o755 });
  expect(() => protectDataFolder(home)).toThrow(
    `${home} contains other files (letters). Set FRONTAGE_DATA to a new or`,
  );
  expect(statSync(join(home, 'letters')).mode & 0o777).toBe(0o755);
  rmSync(join(home, 'letters'), { recursive: true });
  // Of a new disk, and of a first start that was killed.
  mkdirSync(join(home, 'lost+found'), { mode: 0o755 });
  writeFileSync(join(home, 'ports.json.new'), '');
  protectDataFolder(home);
  expect(statSync(join(home, 'lost+found')).mode & 0o777).toBe(0o755);
});

test('a data folder that cannot be used is named with what to do', () => {
  const data = protectedFolder();
  expect(() => protectDataFolder(join(data, 'secret'))).toThrow(
    /^The data folder cannot be used \(EEXIST: .*\)\. Set FRONTAGE_DATA to a folder that you may write to\.$/,
  );
  writeFileSync(join(data, 'lock.sqlite'), 'x'.repeat(4096));
  expect(() => lockFolder(data)).toThrow(`${join(data, 'lock.sqlite')} cannot be locked (file is not a database).`);
});
