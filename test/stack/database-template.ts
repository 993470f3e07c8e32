/**
 * PostgreSQL's folder with the migrated template database, kept between test runs in `.frontage/cache`: copying it takes a tenth of the time
 * that initdb and the migrations take.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { access, mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { makeVersion, pruneVersions } from '#runtime/cached-versions.ts';
import { findPostgres } from '#tools/local/services/postgres-binaries.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const cache = join(root, '.frontage', 'cache', 'test-postgres');
/** What the folder is made from, besides PostgreSQL. */
const sources = ['db/migrat*.ts', 'db/migrations/**', 'tools/local/services/postgres.ts'];

/** Copies the template to this folder. False if there is none for these migrations, this PostgreSQL and this user. */
export async function copyTemplate(to: string): Promise<boolean> {
  const template = join(cache, await templateId());
  try {
    await access(template);
    // Not fs.cp, which loses the owner.
    await run('cp', ['-a', template, to]);
    return true;
  } catch {
    await rm(to, { recursive: true, force: true });
    return false;
  }
}

/** Keeps the folder of a stopped server as the template. */
export async function saveTemplate(from: string): Promise<void> {
  const id = await templateId();
  await mkdir(cache, { recursive: true, mode: 0o711 });
  await makeVersion(cache, id, async (aside) => {
    await run('cp', ['-a', `${from}/.`, aside]);
    // Test servers do not sync: after a power cut, a template must be complete or absent.
    await run('sync', ['-f', aside]).catch(() => {});
  });
  await pruneVersions(cache, /^[0-9a-f]{16}$/, id);
}

async function templateId(): Promise<string> {
  const { folder } = await findPostgres();
  const files = [
    join(dirname(folder), 'package.json'),
    ...sources
      .flatMap((one) => globSync(join(root, one), { withFileTypes: true }))
      .filter((one) => one.isFile())
      .map((one) => join(one.parentPath, one.name)),
  ];
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${process.getuid?.()}`);
  for (const file of files.sort()) hash.update(`\0${await readFile(file, 'utf8')}`);
  return hash.digest('hex').slice(0, 16);
}
