/** Astro's own command, with the packages of the sandbox in the project's own folder: what a build here is compared with. */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { makeImageFolder } from '#providers/sandbox/image/image.ts';
import { dataDir } from './fixture.ts';

const run = promisify(execFile);

/** Builds the project in a folder, and returns its output by path. Rejects with the log if that fails. */
export async function buildPlainly(root: string, ...args: string[]): Promise<Map<string, Buffer>> {
  const { path } = await makeImageFolder(dataDir, () => {});
  const copy = [join(path, 'opt/frontage/node_modules'), join(root, 'node_modules')];
  await run('cp', ['-al', ...copy]).catch(() => run('cp', ['-a', ...copy])); // Links do not cross file systems.
  const { PATH, HOME } = process.env; // Vitest also sets DEV, which Astro reads.
  const env = { PATH, HOME, ASTRO_TELEMETRY_DISABLED: '1', NODE_ENV: 'production', TZ: 'UTC' };
  const command = ['node_modules/astro/bin/astro.mjs', 'build', ...args];
  await run(process.execPath, command, { cwd: root, env, maxBuffer: 64 * 1024 * 1024 });
  const output = join(root, 'dist');
  const items = await readdir(output, { recursive: true, withFileTypes: true });
  const built = new Map<string, Buffer>();
  for (const item of items.filter((one) => one.isFile())) {
    const file = join(item.parentPath, item.name);
    built.set(relative(output, file), await readFile(file));
  }
  return built;
}

/** The package list of the sandbox, as the `package.json` of a project. */
export async function platformPackages(): Promise<Buffer> {
  const { path } = await makeImageFolder(dataDir, () => {});
  return await readFile(join(path, 'opt/frontage/package.json'));
}

/** Astro makes the ids of islands from the project's absolute path, so they differ between any two machines. */
export const withoutIds = (bytes: Buffer | undefined) =>
  bytes?.toString('latin1').replaceAll(/(<astro-island uid=)"\w+"/g, '$1');
