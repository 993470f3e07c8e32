import { execFile, execFileSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { neededPackages, readLockfile } from '#runtime/npm-packages.mjs';
import { slimPackages } from '#runtime/slim-packages.mjs';

const root = join(import.meta.dirname, '../..');
const rooms = '{activities,api,db,edge,git,operator,providers,rules,runtime,skill,tools/local,web,worker,workflows}';

const packages = realpathSync(join(root, 'node_modules'));

function importedPackages(): string[] {
  const files = globSync(`${rooms}/**/*.ts`, { cwd: root, exclude: ['providers/sandbox/image/rehearsal/**'] });
  const names = files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return [...text.matchAll(/(?:^(?:import|export|\}) (?!type ).*from |import\()'([^'#.][^']*)'/gm)].map(
      ([, name]) => name ?? '',
    );
  });
  return [...new Set(names)].filter((name) => !name.startsWith('node:')).sort();
}

test('slim packages load, and are less than half as large', async ({ onTestFinished }) => {
  // On the packages' file system, so that they can be linked.
  mkdirSync(join(root, '.frontage'), { recursive: true, mode: 0o711 });
  const folder = mkdtempSync(join(root, '.frontage', 'slim-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const lockfile = readLockfile(join(root, 'package-lock.json'));
  const tops = neededPackages(lockfile ?? { packages: {} }, { development: false })
    .map(([path]) => path.slice('node_modules/'.length))
    .filter((path) => !path.includes('node_modules/') && globSync(path, { cwd: packages }).length > 0);
  for (const [scope, paths] of Map.groupBy(tops, dirname)) {
    const to = join(folder, 'node_modules', scope);
    mkdirSync(to, { recursive: true });
    execFileSync('cp', ['-al', ...paths.map((path) => join(packages, path)), to]);
  }
  const before = megabytes(folder);
  slimPackages(join(folder, 'node_modules'));
  expect(megabytes(folder)).toBeLessThan(before / 2);
  const names = importedPackages();
  expect(names.length).toBeGreaterThan(40);
  const script = `for (const name of ${JSON.stringify(names)}) await import(name);`;
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { cwd: folder });
}, 120_000);

function megabytes(folder: string): number {
  return Number.parseInt(execFileSync('du', ['-sm', folder], { encoding: 'utf8' }), 10);
}
