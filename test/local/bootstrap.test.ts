import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { olderGit } from '#runtime/git-version.mjs';
import { pathOf } from '#test/stack/requirements.ts';
import { identify } from '#tools/local/process-id.mjs';
import { clone, lock, machine, program, useBareClone } from './bare-clone.ts';

function calls(): string[] {
  return existsSync(join(clone, 'calls')) ? readFileSync(join(clone, 'calls'), 'utf8').trim().split('\n') : [];
}

useBareClone();

const has = (path: string) => existsSync(join(clone, 'node_modules', path));

type Machine = { script?: string; args?: string[]; env?: NodeJS.ProcessEnv; node?: string; development?: boolean };

function run({ script = '', args = [], env = {}, node = process.execPath, development = false }: Machine = {}) {
  writeFileSync(join(clone, 'script.mjs'), script);
  const level = development ? ['--development'] : [];
  const child = spawn(node, ['tools/scripts/bootstrap.mjs', ...level, 'script.mjs', ...args], {
    cwd: clone,
    env: { ...machine(), ...env },
  });
  const ended = once(child, 'exit').then(([code]) => code as number);
  return { child, ended, said: Promise.all([text(child.stdout), text(child.stderr)]).then((both) => both.join('')) };
}

test('two commands in a new clone install once, and both run', async () => {
  const both = [run(), run()];
  expect(await Promise.all(both.map((one) => one.ended))).toEqual([0, 0]);
  expect(calls()).toHaveLength(1);
});

test('packages are not installed again until the lockfile changes', async () => {
  await run().ended;
  await run().ended;
  expect(calls()).toHaveLength(1);
  lock('1.0.1');
  await run().ended;
  expect(calls()).toHaveLength(2);
});

test('a start installs what runs, a test adds the rest and replaces nothing', async () => {
  await run().ended;
  expect(['one/index.js', 'one/LICENSE.md'].every(has)).toBe(true);
  expect(['one/index.d.ts', 'one/README.md', 'tool'].some(has)).toBe(false);
  const { ino } = statSync(join(clone, 'node_modules/one/index.js'));
  await run({ development: true }).ended;
  expect(['one/index.d.ts', 'one/README.md', 'tool/index.js'].every(has)).toBe(true);
  expect(statSync(join(clone, 'node_modules/one/index.js')).ino).toBe(ino);
  await run().ended;
  expect(calls()).toEqual(['install --omit=dev', 'install']);
});

test('a start with a changed lockfile keeps what tests installed', async () => {
  await run({ development: true }).ended;
  lock('1.0.1');
  await run().ended;
  expect(calls()).toEqual(['install', 'install']);
  expect(['one/index.d.ts', 'tool/index.js'].every(has)).toBe(true);
});

test('npm by hand knows that the packages of a start are incomplete', async () => {
  await run().ended;
  const { packages } = JSON.parse(readFileSync(join(clone, 'node_modules/.package-lock.json'), 'utf8'));
  expect(packages).toEqual({ 'node_modules/one': { version: '1.0.0' } });
});

test('without Temporal nothing is installed, and one line names three ways', async () => {
  for (const name of ['sh', 'git', 'env']) {
    const path = (process.env.PATH ?? '').split(':').find((folder) => existsSync(join(folder, name)));
    symlinkSync(join(path ?? '', name), join(clone, 'bin', name));
  }
  rmSync(join(clone, 'bin', 'temporal'));
  const env = { PATH: join(clone, 'bin'), FRONTAGE_TEST_TEMPORAL_ADDRESSES: 'http://127.0.0.1:1/' };
  const { ended, said } = run({ env });
  expect(await ended).toBe(1);
  expect(await said).toMatch(
    /^… downloading .*\n✗ The Temporal CLI is missing: .* Put `temporal` on PATH, or allow .*, or install Go .*\n$/,
  );
  expect(calls()).toEqual([]);
  expect(existsSync(join(clone, 'node_modules'))).toBe(false);
});

test('a git that is too old is refused before anything is installed', async () => {
  program('git', 'echo git version 2.34.1');
  const { ended, said } = run();
  expect(await ended).toBe(1);
  expect(await said).toContain('✗ git 2.34.1 is too old. Install git 2.38 or newer');
  expect(calls()).toEqual([]);
  for (const version of ['2.38.0', '2.50.1 (Apple Git-155)', '3.0.0'])
    expect(olderGit(`git version ${version}`)).toBe(undefined);
});

test('a Node that is too old installs one that is not', { tags: 'node' }, async () => {
  const old = await pathOf('node');
  const { ended, said } = run({ node: old, script: 'console.log(process.version)' });
  expect(await ended).toBe(0);
  expect(await said).toContain(process.version);
});

test('the lock of a dead command does not block others', async () => {
  const dead = spawn('true');
  await once(dead, 'exit');
  mkdirSync(join(clone, '.frontage'));
  const file = join(clone, '.frontage', 'install.lock');
  writeFileSync(file, JSON.stringify({ pid: dead.pid, started: 'earlier' }));
  expect(await run().ended).toBe(0);
  // After a reboot, another process may have its number.
  writeFileSync(file, JSON.stringify({ ...identify(process.pid), started: 'before the reboot' }));
  lock('1.0.1');
  expect(await run().ended).toBe(0);
});

test.runIf(process.platform === 'linux')('a folder that cannot be written ends an install in one line', async () => {
  symlinkSync('/proc/self', join(clone, '.frontage'));
  const { ended, said } = run();
  expect(await ended).toBe(1);
  expect(await said).toMatch(/^✗ \S+\.frontage cannot be written \(ENOENT: .*\)\. Free space .*\n$/);
});

test('a failed install is one line that names its log', async () => {
  program('npm', '[ "$1" = --version ] || { echo "npm error code E1"; echo "npm error the disk is full"; exit 1; }');
  const { ended, said } = run();
  expect(await ended).toBe(1);
  expect(await said).toContain('✗ The packages could not be installed: npm error the disk is full (log: ');
});

test('an interrupted install stops npm and frees the lock', async () => {
  program('npm', `[ "$1" = --version ] || { echo $$ > ${join(clone, 'npm.pid')}; exec sleep 60; }`);
  const { child, ended } = run();
  await expect
    .poll(() => existsSync(join(clone, 'npm.pid')) && readFileSync(join(clone, 'npm.pid'), 'utf8'))
    .toBeTruthy();
  child.kill('SIGTERM');
  expect(await ended).toBe(130);
  expect(identify(Number(readFileSync(join(clone, 'npm.pid'), 'utf8')))).toBeUndefined();
  expect(existsSync(join(clone, '.frontage', 'install.lock'))).toBe(false);
});

test('the script gets its arguments, and its exit code is the command’s', async () => {
  const script = 'console.log(process.argv.slice(2).join()); process.exit(7)';
  const { ended, said } = run({ script, args: ['a', '--b'] });
  expect(await ended).toBe(7);
  expect(await said).toContain('a,--b');
});

test('a signal reaches the script', async () => {
  const { child, ended, said } = run({
    script: `
    process.once('SIGTERM', () => { console.log('asked to stop'); process.exit(0); });
    setInterval(() => {}, 1000);
    console.log('running');`,
  });
  child.stdout.on('data', (line) => String(line).includes('running') && child.kill('SIGTERM'));
  expect(await ended).toBe(0);
  expect(await said).toContain('asked to stop');
});
