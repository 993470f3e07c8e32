/** The workflows as one JavaScript file, built once per version of the code and cached in the data folder. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join, relative } from 'node:path';
import { bundleWorkflowCode, type Logger } from '@temporalio/worker';
import { pruneVersions, removeAbandoned } from '#runtime/cached-versions.ts';

const workflowsDir = join(import.meta.dirname, '../workflows');
const rulesDir = join(import.meta.dirname, '../rules');
const workflowsPath = join(workflowsDir, 'index.ts');
export const workflowInterceptorModules = [join(workflowsDir, 'interceptors.ts')];

/** The code of all workflows. Deterministic: equal sources return the cached bundle. */
export async function workflowBundle(
  dataDir: string,
  logger: Logger,
  moreInterceptors: string[] = [],
): Promise<{ code: string }> {
  const folder = join(dataDir, 'cache');
  const name = `workflows-${await versionOf(moreInterceptors)}.js`;
  const code =
    (await readFile(join(folder, name), 'utf8').catch(() => undefined)) ??
    (await make(folder, name, logger, moreInterceptors));
  await pruneVersions(folder, /^workflows-[0-9a-f]{16}\.js$/, name);
  return { code };
}

async function make(folder: string, name: string, logger: Logger, more: string[]): Promise<string> {
  const modules = [...more, ...workflowInterceptorModules];
  const { code } = await bundleWorkflowCode({ workflowsPath, workflowInterceptorModules: modules, logger });
  await mkdir(folder, { recursive: true });
  await removeAbandoned(folder, `${name}.`);
  const aside = join(folder, `${name}.${randomUUID()}`);
  await writeFile(aside, code);
  await rename(aside, join(folder, name));
  return code;
}

async function versionOf(moreInterceptors: string[]): Promise<string> {
  const hash = createHash('sha256')
    .update(process.version)
    .update(moreInterceptors.map((path) => basename(path)).join());
  hash.update(createRequire(import.meta.url)('@temporalio/worker/package.json').version);
  // Everything that the workflows import: their own files and the pure rules.
  for (const folder of [workflowsDir, rulesDir]) {
    const files = await readdir(folder, { recursive: true, withFileTypes: true });
    const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
    for (const path of paths.sort()) hash.update(relative(folder, path)).update(await readFile(path));
  }
  return hash.digest('hex').slice(0, 16);
}
