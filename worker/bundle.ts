/** The workflows as one file of JavaScript, made once for each version of the code and kept in the data folder. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { bundleWorkflowCode, type Logger } from '@temporalio/worker';

const workflowsDir = join(import.meta.dirname, '../workflows');

/** The code of all workflows. Deterministic: equal sources give the kept bundle. */
export async function workflowBundle(dataDir: string, logger: Logger): Promise<{ code: string }> {
  const kept = join(dataDir, 'cache', `workflows-${await versionOf()}.js`);
  const held = await readFile(kept, 'utf8').catch(() => undefined);
  if (held !== undefined) return { code: held };
  const { code } = await bundleWorkflowCode({ workflowsPath: join(workflowsDir, 'index.ts'), logger });
  await mkdir(join(dataDir, 'cache'), { recursive: true });
  const aside = `${kept}.${randomUUID()}`;
  await writeFile(aside, code);
  await rename(aside, kept);
  await removeEarlier(join(dataDir, 'cache'), kept);
  return { code };
}

/** All but the new one and the one before it. Another worker that starts may be doing the same. */
async function removeEarlier(folder: string, kept: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => /^workflows-[0-9a-f]{16}\.js$/.test(name));
  const made = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(join(folder, name)).catch(() => undefined))?.mtimeMs ?? 0 })),
  );
  const earlier = made.filter(({ name }) => join(folder, name) !== kept).sort((a, b) => b.at - a.at);
  for (const { name } of earlier.slice(1)) await rm(join(folder, name), { force: true });
}

async function versionOf(): Promise<string> {
  const hash = createHash('sha256').update(process.version);
  hash.update(createRequire(import.meta.url)('@temporalio/worker/package.json').version);
  for (const name of (await readdir(workflowsDir)).sort())
    hash.update(name).update(await readFile(join(workflowsDir, name)));
  return hash.digest('hex').slice(0, 16);
}
