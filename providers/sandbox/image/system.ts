/** The part of a root file system that is copied from this machine: Node, its libraries, and a few files of /etc. */
import { execFile } from 'node:child_process';
import { constants, existsSync, realpathSync } from 'node:fs';
import { copyFile, link, mkdir, readdir, realpath, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const certificates = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt', '/etc/ssl/cert.pem'];

/** The Node that `npm start` installed (`tools/node`), which needs few libraries; otherwise the binary of this process. */
export function nodeBinary(): string {
  const installed = join(import.meta.dirname, '../../../node_modules/.bin/node');
  return existsSync(installed) ? realpathSync(installed) : process.execPath;
}

/** Makes the folder, which already contains `opt/frontage`, a root file system: Node only, without a shell or tools. */
export async function addSystem(folder: string): Promise<void> {
  for (const name of ['usr/bin', 'etc/ssl/certs', 'proc', 'dev', 'tmp', 'opt/frontage/site']) {
    await mkdir(join(folder, name), { recursive: true });
  }
  await shareFile(nodeBinary(), join(folder, 'usr/bin/node'));
  for (const library of await listLibraries(folder)) {
    await mkdir(join(folder, dirname(library)), { recursive: true });
    await copyFile(await realpath(library), join(folder, library));
  }
  await writeFile(join(folder, 'etc/passwd'), 'root:x:0:0::/:/none\nbuild:x:10001:10001::/tmp:/none\n');
  await writeFile(join(folder, 'etc/group'), 'root:x:0:\nbuild:x:10001:\n');
  await writeFile(join(folder, 'etc/nsswitch.conf'), 'hosts: files\n');
  await writeFile(join(folder, 'etc/hosts'), '127.0.0.1 localhost\n::1 localhost\n');
  const bundle = certificates.find((path) => existsSync(path));
  if (bundle) await copyFile(bundle, join(folder, 'etc/ssl/certs/ca-certificates.crt'));
  // Some loaders search /lib64, some /usr/lib: provide both, whatever the machine's layout.
  if (!existsSync(join(folder, 'lib64'))) await symlink('lib', join(folder, 'lib64'));
}

/**
 * A hard link where the file is ours and has the modes that a build needs, else a copy, which shares the bytes on file systems that can. A
 * link fails on another file system.
 */
async function shareFile(from: string, to: string): Promise<void> {
  const { mode, uid } = await stat(from);
  if ((mode & 0o777) === 0o755 && uid === process.getuid?.() && (await isLinked(from, to))) return;
  await copyFile(from, to, constants.COPYFILE_FICLONE);
}

const isLinked = (from: string, to: string) =>
  link(from, to).then(
    () => true,
    () => false,
  );

/** The libraries that Node and each native package load. Node's own list lacks librt and libresolv. */
async function listLibraries(folder: string): Promise<Set<string>> {
  const packages = join(folder, 'opt/frontage/node_modules');
  const entries = await readdir(packages, { recursive: true, withFileTypes: true });
  const native = entries
    .filter((entry) => entry.isFile() && /\.node$|\.so(\.\d+)*$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  const loader = dynamicLoader();
  const found = new Set<string>();
  for (const file of [nodeBinary(), ...native]) {
    // It fails on files of another libc or architecture; those are never loaded here.
    const { stdout } = await run(loader, ['--list', file]).catch(() => ({ stdout: '' }));
    for (const [, path] of stdout.matchAll(/^\s+(?:\S+ => )?(\/.+) \(0x/gm)) {
      if (path && !path.startsWith(folder)) found.add(path);
    }
  }
  if (found.size === 0)
    throw new Error(`${loader} lists no libraries for Node, so the sandbox cannot be created on this machine.`);
  return found;
}

/** The program that loads libraries here. ldd, which some systems lack, is a script that calls it. */
function dynamicLoader(): string {
  const { sharedObjects } = process.report.getReport() as unknown as { sharedObjects: string[] };
  return sharedObjects.find((path) => /\/ld[-.][^/]*$/.test(path)) ?? 'ldd';
}
