import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { pathOf } from '#test/stack/requirements.ts';
import { identify } from '#tools/local/process-id.mjs';

const root = dirname(dirname(import.meta.dirname));
const copied = [
  'package.json',
  'tools/scripts',
  'tools/node',
  'tools/local/process-id.mjs',
  'tools/local/services',
  'tools/local/progress.ts',
  'runtime',
];

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'] as const;

/** In place of what `npm start` runs: notes its process, and by which signal it was stopped, after it has said so. */
const stub = `
import { writeFileSync } from 'node:fs';
import { showProgress } from '#tools/local/progress.ts';
const progress = showProgress();
let stopped = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {
  if (stopped) return;
  stopped = true;
  for (let count = 0; count < 10; count++) setTimeout(() => progress.line('… stopping'), 20 * count);
  setTimeout(() => { writeFileSync('stopped', signal); process.exit(0); }, 300);
});
setInterval(() => {}, 1000);
writeFileSync('running', JSON.stringify([process.pid, process.ppid]));
`;

/** What the machine's npm does: notes the call and, slowly, writes the packages of the lockfile, as far as they are asked for. */
const npm = `
import { appendFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
const args = process.argv.slice(2);
if (args[0] === '--version') process.exit(0);
const at = args[args.indexOf('--prefix') + 1];
appendFileSync(CALLS, args.filter((one) => /^(install|ci|--omit.*)$/.test(one)).join(' ') + '\\n');
await new Promise((resolve) => setTimeout(resolve, 500));
const { packages } = JSON.parse(readFileSync(join(at, 'package-lock.json'), 'utf8'));
const present = {};
for (const [path, one] of Object.entries(packages)) {
  if (path === '' || (one.dev && args.includes('--omit=dev')) || (one.cpu && one.cpu !== process.arch)) continue;
  present[path] = { ...one, integrity: 'sha512-of-the-published-one' };
  mkdirSync(join(at, path, 'bin'), { recursive: true });
  for (const file of ['package.json', 'index.js', 'index.d.ts', 'README.md', 'LICENSE.md'])
    writeFileSync(join(at, path, file), '{}', { flag: 'a' });
  if (one.bin) symlinkSync(NODE, join(at, path, 'bin', 'node'));
}
writeFileSync(join(at, 'node_modules', '.package-lock.json'), JSON.stringify({ packages: present }));
`;

let clone: string;

/** A clone with nothing installed, on a machine with this npm, and with Temporal. */
beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'frontage-clone-'));
  mkdirSync(join(clone, 'bin'));
  for (const path of copied) cpSync(join(root, path), join(clone, path), { recursive: true });
  lock('1.0.0');
  const calls = `const CALLS = ${JSON.stringify(join(clone, 'calls'))}, NODE = ${JSON.stringify(process.execPath)};`;
  writeFileSync(join(clone, 'npm.mjs'), calls + npm);
  program('npm', `exec ${process.execPath} ${join(clone, 'npm.mjs')} "$@"`);
  program('temporal', 'echo temporal version 1.5.1');
});

afterEach(() => rmSync(clone, { recursive: true, force: true }));

function lock(version: string): void {
  const packages = { '': {}, 'node_modules/one': { version }, 'node_modules/tool': { version, dev: true } };
  writeFileSync(join(clone, 'package-lock.json'), JSON.stringify({ packages }));
}

function program(name: string, script: string): void {
  const file = join(clone, 'bin', name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

function calls(): string[] {
  return existsSync(join(clone, 'calls')) ? readFileSync(join(clone, 'calls'), 'utf8').trim().split('\n') : [];
}

const has = (path: string) => existsSync(join(clone, 'node_modules', path));

type Machine = { script?: string; args?: string[]; env?: NodeJS.ProcessEnv; node?: string; development?: boolean };

function run({ script = '', args = [], env = {}, node = process.execPath, development = false }: Machine = {}) {
  writeFileSync(join(clone, 'script.mjs'), script);
  const PATH = `${join(clone, 'bin')}:${process.env.PATH}`;
  const level = development ? ['--development'] : [];
  const child = spawn(node, ['tools/scripts/bootstrap.mjs', ...level, 'script.mjs', ...args], {
    cwd: clone,
    env: { ...process.env, XDG_CACHE_HOME: join(clone, 'cache'), PATH, ...env },
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

describe('npm start, whose terminal closes', { tags: 'npm' }, () => {
  test.for(signals)('%s to npm stops the script and leaves nothing running', async (signal) => {
    writeFileSync(join(clone, 'tools/scripts/start.ts'), stub);
    const PATH = `${join(clone, 'bin')}:${process.env.PATH}`;
    const env = { ...process.env, XDG_CACHE_HOME: join(clone, 'cache'), PATH };
    const command = spawn(await pathOf('npm'), ['start'], { cwd: clone, env });
    const read = (name: string) => (existsSync(join(clone, name)) ? readFileSync(join(clone, name), 'utf8') : '');
    await expect.poll(() => read('running')).not.toBe('');
    const processes: number[] = JSON.parse(read('running'));
    const left = () => processes.filter((pid) => identify(pid));
    onTestFinished(() => {
      for (const pid of left()) process.kill(pid, 'SIGKILL');
    });
    for (const stream of [command.stdout, command.stderr]) stream.destroy();
    command.kill(signal);
    await expect.poll(() => read('stopped')).toBe(signal === 'SIGKILL' ? 'SIGHUP' : signal);
    await expect.poll(left).toEqual([]);
  });
});
