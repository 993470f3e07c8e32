/** A clone of this project in which nothing is installed, on a machine with an npm of its own. */
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';

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

/** The folder. */
export let clone: string;

/** Before each test: a clone with nothing installed, on a machine with this npm, and with Temporal. */
export function useBareClone(): void {
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
}

export function lock(version: string): void {
  const packages = { '': {}, 'node_modules/one': { version }, 'node_modules/tool': { version, dev: true } };
  writeFileSync(join(clone, 'package-lock.json'), JSON.stringify({ packages }));
}

/** On the machine's PATH. */
export function program(name: string, script: string): void {
  const file = join(clone, 'bin', name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

/** The environment of a command on that machine. */
export const machine = (): NodeJS.ProcessEnv => ({
  ...process.env,
  XDG_CACHE_HOME: join(clone, 'cache'),
  PATH: `${join(clone, 'bin')}:${process.env.PATH}`,
});
