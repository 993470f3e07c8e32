import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = dirname(dirname(import.meta.dirname));
const lockfile = (version: string) => JSON.stringify({ packages: { '': {}, 'node_modules/one': { version } } });

let clone: string;

/** A clone with nothing installed, on a machine whose npm writes down each call and installs a Node, slowly. */
beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'frontage-clone-'));
  mkdirSync(join(clone, 'tools/scripts'), { recursive: true });
  mkdirSync(join(clone, 'bin'));
  cpSync(join(root, 'tools/scripts/bootstrap.mjs'), join(clone, 'tools/scripts/bootstrap.mjs'));
  writeFileSync(join(clone, 'package-lock.json'), lockfile('1.0.0'));
  npmDoes(`sleep 0.5
    mkdir -p node_modules/.bin
    cp package-lock.json node_modules/.package-lock.json
    ln -sf "${process.execPath}" node_modules/.bin/node`);
});

afterEach(() => rmSync(clone, { recursive: true, force: true }));

function npmDoes(script: string): void {
  const file = join(clone, 'bin', 'npm');
  writeFileSync(file, `#!/bin/sh\necho "$1" >> calls\n[ "$1" = install ] || exit 0\n${script}\n`);
  chmodSync(file, 0o755);
}

function installs(): number {
  return readFileSync(join(clone, 'calls'), 'utf8')
    .split('\n')
    .filter((call) => call === 'install').length;
}

function run(script: string, args: string[] = []) {
  writeFileSync(join(clone, 'script.mjs'), script);
  const env = { ...process.env, PATH: `${join(clone, 'bin')}${delimiter}${process.env.PATH}` };
  const child = spawn(process.execPath, ['tools/scripts/bootstrap.mjs', 'script.mjs', ...args], { cwd: clone, env });
  const ended = once(child, 'exit').then(([code]) => code as number);
  return { child, ended, said: Promise.all([text(child.stdout), text(child.stderr)]).then((both) => both.join('')) };
}

test('two commands in a new clone install once, and both run', async () => {
  const both = [run('process.exit(0)'), run('process.exit(0)')];
  expect(await Promise.all(both.map((one) => one.ended))).toEqual([0, 0]);
  expect(installs()).toBe(1);
});

test('packages are not installed again until the lockfile changes', async () => {
  await run('').ended;
  await run('').ended;
  expect(installs()).toBe(1);
  writeFileSync(join(clone, 'package-lock.json'), lockfile('1.0.1'));
  await run('').ended;
  expect(installs()).toBe(2);
});

test('a killed command’s lock does not block others', async () => {
  const dead = spawn('true');
  await once(dead, 'exit');
  mkdirSync(join(clone, '.frontage'));
  writeFileSync(join(clone, '.frontage', 'install.lock'), String(dead.pid));
  expect(await run('').ended).toBe(0);
});

test('a failed install is one line that names its log', async () => {
  npmDoes('echo "npm error code E1"; echo "npm error the disk is full"; exit 1');
  const { ended, said } = run('');
  expect(await ended).toBe(1);
  expect(await said).toContain('✗ The packages could not be installed: npm error the disk is full (log: ');
});

test('the script gets its arguments, and its exit code is the command’s', async () => {
  const { ended, said } = run('console.log(process.argv.slice(2).join()); process.exit(7)', ['a', '--b']);
  expect(await ended).toBe(7);
  expect(await said).toContain('a,--b');
});

test('a signal reaches the script', async () => {
  const { child, ended, said } = run(`
    process.once('SIGTERM', () => { console.log('asked to stop'); process.exit(0); });
    setInterval(() => {}, 1000);
    console.log('running');`);
  child.stdout.on('data', (line) => String(line).includes('running') && child.kill('SIGTERM'));
  expect(await ended).toBe(0);
  expect(await said).toContain('asked to stop');
});
