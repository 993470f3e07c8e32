/** Builds on macOS: its own sandbox-exec denies files, network and other processes. It limits neither memory nor processes. */
import { execFile } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { folderSandbox } from './folder-sandbox.ts';
import { makeImageFolder, type Progress } from './image/image.ts';
import { nodeBinary } from './image/system.ts';
import type { Sandbox } from './sandbox.ts';

const run = promisify(execFile);
const program = '/usr/bin/sandbox-exec';

export type SeatbeltSandboxOptions = { dataDir: string; owner: string; onProgress: Progress };

/** Creates the image if it is missing, tests that the profile holds, and returns the sandbox. */
export async function openSeatbeltSandbox({ dataDir, owner, onProgress }: SeatbeltSandboxOptions): Promise<Sandbox> {
  if (process.platform !== 'darwin') throw new Error('sandbox-exec is a program of macOS.');
  const image = await makeImageFolder(dataDir, onProgress);
  const [path, node] = await Promise.all([realpath(image.path), realpath(nodeBinary())]);
  const enclose = (folder: string) => [program, '-p', seatbeltProfile({ image: path, node, folder })];
  const [command = '', ...args] = enclose(await realpath(tmpdir()));
  const probe = "try { require('fs').readFileSync('/etc/passwd'); } catch { console.log('held'); }";
  const { stdout } = await run(command, [...args, node, '-e', probe], { timeout: 20_000, env: {}, cwd: '/' });
  if (stdout.trim() !== 'held') throw new Error('The profile does not keep a program from reading files.');
  return folderSandbox({ kind: 'seatbelt', image: { ...image, path }, owner, enclose });
}

/** What macOS's own libraries are read from. */
const system = ['/usr/lib', '/System/Library', '/System/Volumes/Preboot/Cryptexes', '/private/var/db/dyld'];

/** A profile that denies everything but the image, the system's libraries and the build's own folder. Paths have no links. */
export function seatbeltProfile({ image, node, folder }: { image: string; node: string; folder: string }): string {
  const programs = [subpath(image), literal(node)];
  const readable = [...programs, subpath(folder), ...system.map(subpath)];
  const above = [...new Set([image, node, folder].flatMap(foldersAbove))].map(literal);
  const devices = ['/dev/null', '/dev/random', '/dev/urandom'].map(literal);
  return [
    '(version 1)',
    '(deny default)',
    '(allow process-fork)',
    `(allow process-exec ${programs.join(' ')})`,
    '(allow signal (target same-sandbox))',
    '(allow process-info* (target same-sandbox))',
    '(allow sysctl-read)',
    `(allow file-read* ${[...readable, ...devices].join(' ')})`,
    `(allow file-map-executable ${[...programs, ...system.map(subpath)].join(' ')})`,
    `(allow file-read-metadata ${above.join(' ')})`,
    `(allow file-write* ${subpath(folder)})`,
    `(allow file-write-data ${literal('/dev/null')})`,
  ].join('\n');
}

const literal = (path: string) => `(literal ${quote(path)})`;
const subpath = (path: string) => `(subpath ${quote(path)})`;

function quote(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}

function foldersAbove(path: string): string[] {
  const above = dirname(path);
  return above === path ? [path] : [...foldersAbove(above), above];
}
