/** The baseline: a bare `astro build` in a checkout of the same commits, with the packages installed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeImageFolder } from '#providers/sandbox/image/image.ts';
import { nodeBinary } from '#providers/sandbox/image/system.ts';
import type { BenchSite } from './publish-fixture.ts';

export type Built = { ms: number; cpu: number };

/** Creates a checkout of both repositories with a copy of the packages. */
export async function checkOut(kept: string, site: BenchSite, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await copyTrees(site, folder);
  const image = await makeImageFolder(kept, (line) => console.log(`… ${line}`));
  await cp(join(image.path, 'opt/frontage/node_modules'), join(folder, 'node_modules'), {
    recursive: true,
    verbatimSymlinks: true,
  });
}

/** Updates the checkout from the clones. */
export async function copyTrees(site: BenchSite, folder: string): Promise<void> {
  const filter = (path: string) => !path.endsWith('/.git');
  await cp(site.source, folder, { recursive: true, filter });
  await cp(site.content, join(folder, 'src/content'), { recursive: true, filter });
}

/** Builds once. Astro's compile cache, which is per machine and not per site, is left in place in both cases. */
export async function buildBare(folder: string, caches: 'none' | 'kept'): Promise<Built> {
  const outcome = ['dist', '.astro', ...(caches === 'none' ? ['node_modules/.astro', 'node_modules/.vite'] : [])];
  for (const path of outcome) await rm(join(folder, path), { recursive: true, force: true });
  const cpuBefore = await waitedCpu();
  const from = performance.now();
  const node = nodeBinary();
  const child = spawn(node, ['node_modules/.bin/astro', 'build'], {
    cwd: folder,
    stdio: 'ignore',
    env: { PATH: `${dirname(node)}:${process.env.PATH}`, HOME: process.env.HOME, ASTRO_TELEMETRY_DISABLED: '1' },
  });
  const [code] = await once(child, 'exit');
  const ms = performance.now() - from;
  if (code !== 0) throw new Error(`The bare build exited with code ${code}.`);
  return { ms, cpu: (await waitedCpu()) - cpuBefore };
}

/** CPU seconds of children that have exited: fields 16 and 17 of proc(5)'s stat. */
async function waitedCpu(): Promise<number> {
  const stat = await readFile('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / 100;
}
