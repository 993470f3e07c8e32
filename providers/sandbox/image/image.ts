/**
 * The image that builds run in: a root file system of this machine's own parts, kept in `<dataDir>/sandbox/<id>`.
 *
 *   opt/frontage/   package.json, package-lock.json, node_modules (the packages of every site), runner/, rehearsal/, site/ (empty)
 *   usr/bin/node, lib/…, etc/…   on Linux, where the folder is a whole root file system
 *
 * The id is a hash of everything the image is made from, so a change makes a new one and no change is instant.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { cp, mkdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { makeVersion, pruneVersions } from '../../../runtime/cached-versions.ts';
import { countedPackages, readLockfile, watchPackages } from '../../../runtime/npm-packages.mjs';
import { slimPackages } from '../../../runtime/slim-packages.mjs';
import { addSystem, nodeBinary } from './system.ts';

const run = promisify(execFile);
const here = import.meta.dirname;

/** The packages that sites are built with could not be installed: no kind of sandbox works without them. */
export class PackagesMissing extends Error {}

/** Receives progress as lines of text. */
export type Progress = (line: string) => void;

const own = ['package.json', 'package-lock.json'];
const folders = ['runner', 'rehearsal'];

/** The files of the image, by their paths in this folder. */
export const imageParts = [...own, ...folders.flatMap(listFiles)];

/**
 * Where a sandbox unpacks the site. Site and packages have a folder in common that is not the root: Astro takes a path that shares no
 * folder with the site's for one that is relative to it, and then finds no component of a package (`normalizeFilename`).
 */
export const siteFolder = '/opt/frontage/site';

/** The command of a sandbox. With SIGUSR1, site code could open the supervisor's debugger and control it. */
export const runnerCommand = ['node', '--disable-sigusr1', '/opt/frontage/runner/supervisor.mjs'];
const makers = ['image.ts', 'system.ts', 'Dockerfile', '../../../runtime/slim-packages.mjs'];

/** Version of the Node that runs in the image, as `v24.21.0`. */
export async function imageNodeVersion(): Promise<string> {
  const { stdout } = await run(nodeBinary(), ['--version']);
  return stdout.trim();
}

/** Identity of the image as 16 hex digits: equal ids build equal source to equal output. */
export async function imageId(): Promise<string> {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${await imageNodeVersion()}`);
  for (const name of [...imageParts, ...makers]) hash.update(`\0${name}\0`).update(await readFile(join(here, name)));
  return hash.digest('hex').slice(0, 16);
}

/** Returns the image's folder, and creates it if it is missing. */
export async function makeImageFolder(dataDir: string, onProgress: Progress): Promise<{ id: string; path: string }> {
  const id = await imageId();
  const parent = join(dataDir, 'sandbox');
  const path = await makeVersion(parent, id, async (aside) => {
    await fill(aside, onProgress);
    onProgress('The sandbox is ready.');
  });
  await pruneVersions(parent, /^[0-9a-f]{16}$/, id);
  return { id, path };
}

async function fill(folder: string, onProgress: Progress): Promise<void> {
  const home = join(folder, 'opt', 'frontage');
  await mkdir(join(home, 'runner'), { recursive: true });
  for (const name of imageParts) await cp(join(here, name), join(home, name));
  await installPackages(join(home, 'runner'), () => {});
  await installPackages(home, onProgress);
  if (process.platform === 'linux') {
    onProgress('Copying the system files that the sandbox needs…');
    await addSystem(folder);
  }
  // mkdtemp made it 0700 and the umask may be strict: builds run under another user.
  await run('chmod', ['-R', 'a+rX,go-w', folder]);
}

/** Without install scripts: no package needs one, and they would run as the platform's user. */
async function installPackages(folder: string, onProgress: Progress): Promise<void> {
  const lockfile = readLockfile(join(folder, 'package-lock.json'));
  const paths = lockfile ? countedPackages(lockfile, { development: false }) : [];
  const flags = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--include=optional'];
  const stop = watchPackages(folder, paths, (done, all) =>
    onProgress(`Installing the packages that sites are built with: ${10 * Math.floor((10 * done) / all)} %`),
  );
  await run('npm', ['ci', ...flags, '--prefix', folder], { cwd: folder, maxBuffer: 16 * 1024 * 1024 })
    .catch((cause) => {
      throw new PackagesMissing(
        'npm could not install the packages that sites are built with. Check that this machine is online.',
        { cause },
      );
    })
    .finally(stop);
  // The bundler of sites compiles TypeScript, also that of packages.
  slimPackages(join(folder, 'node_modules'), { keepTypeScript: true });
}

function listFiles(folder: string): string[] {
  const items = readdirSync(join(here, folder), { recursive: true, withFileTypes: true });
  const files = items.filter((item) => item.isFile()).map((item) => relative(here, join(item.parentPath, item.name)));
  return files.filter((path) => !path.includes('node_modules')).sort();
}
