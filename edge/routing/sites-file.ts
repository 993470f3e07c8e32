/** The site table on the edge's disk, for a start while the database is down. */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { removeAbandoned } from '#runtime/cached-versions.ts';
import type { DomainRow, FormerNameRow, PreviewRow, SiteRow } from './database.ts';

type Line = [
  id: string,
  name: string,
  status: string,
  manifestSha256: string | null,
  redirectsSha256?: string | null,
  previews?: PreviewRow[] | null,
  domains?: DomainRow[] | null,
  formerNames?: FormerNameRow[] | null,
];

/** The sites as last saved; `undefined` without a readable file. */
export async function readSitesFile(path: string): Promise<SiteRow[] | undefined> {
  await removeAbandoned(dirname(path), `${basename(path)}.`);
  try {
    const saved = JSON.parse(await readFile(path, 'utf8')) as { format: 1; sites: Line[] };
    if (saved.format !== 1) return undefined;
    return saved.sites.map(
      ([id, name, status, manifestSha256, redirectsSha256 = null, previews, domains, formerNames]) => ({
        id,
        name,
        status: status === 'archived' || status === 'blocked' ? status : 'active',
        manifestSha256,
        redirectsSha256,
        ...(previews ? { previews } : {}),
        ...(domains ? { domains } : {}),
        ...(formerNames ? { formerNames } : {}),
      }),
    );
  } catch {
    return undefined;
  }
}

/** Replaces the file atomically: a crash leaves the old or the new one. */
export async function writeSitesFile(path: string, sites: Iterable<SiteRow>): Promise<void> {
  const lines: Line[] = Array.from(sites, (site) => [
    site.id,
    site.name,
    site.status,
    site.manifestSha256,
    site.redirectsSha256,
    site.previews ?? null,
    site.domains ?? null,
    site.formerNames ?? null,
  ]);
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${randomUUID()}`;
  try {
    await writeFile(temporary, JSON.stringify({ format: 1, sites: lines }));
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
