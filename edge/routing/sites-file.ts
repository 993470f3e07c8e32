/** The table of sites on the edge's own disk: what an edge serves from when it starts while the database is down. */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { removeAbandoned } from '#runtime/cached-versions.ts';
import type { DomainRow, PreviewRow, SiteRow } from './database.ts';

type Line = [
  id: string,
  name: string,
  status: string,
  manifestSha256: string | null,
  redirectsSha256?: string | null,
  previews?: PreviewRow[] | null,
  domains?: DomainRow[] | null,
];

/** The sites as they were last saved; `undefined` when there is no file that can be read. */
export async function readSitesFile(path: string): Promise<SiteRow[] | undefined> {
  await removeAbandoned(dirname(path), `${basename(path)}.`);
  try {
    const saved = JSON.parse(await readFile(path, 'utf8')) as { format: 1; sites: Line[] };
    if (saved.format !== 1) return undefined;
    return saved.sites.map(([id, name, status, manifestSha256, redirectsSha256 = null, previews, domains]) => ({
      id,
      name,
      status: status === 'archived' || status === 'blocked' ? status : 'active',
      manifestSha256,
      redirectsSha256,
      ...(previews ? { previews } : {}),
      ...(domains ? { domains } : {}),
    }));
  } catch {
    return undefined;
  }
}

/** Takes the place of the file in one step, so that a crash leaves the old one or the new one. */
export async function writeSitesFile(path: string, sites: Iterable<SiteRow>): Promise<void> {
  const lines: Line[] = Array.from(sites, (site) => [
    site.id,
    site.name,
    site.status,
    site.manifestSha256,
    site.redirectsSha256,
    site.previews ?? null,
    site.domains ?? null,
  ]);
  await mkdir(dirname(path), { recursive: true });
  const aside = `${path}.${randomUUID()}`;
  try {
    await writeFile(aside, JSON.stringify({ format: 1, sites: lines }));
    await rename(aside, path);
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
}
