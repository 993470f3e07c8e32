/** Exports a site to an archive on this machine. */
import { createWriteStream } from 'node:fs';
import { mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { openSiteArchive } from '#api/exports/archive.ts';
import { ExportFault } from '#api/exports/document.ts';
import { createStore } from '#providers/store/factory.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';

export type Exported = { site_id: string; files: number; bytes: number; rows: Record<string, number> };

/** `into` is a file that does not exist yet. Throws ExportFault. */
export async function exportSite(
  { config, clock }: { config: Config; clock: Clock },
  { siteId, into, withVisitors }: { siteId: string; into: string; withVisitors: boolean },
): Promise<Exported> {
  if (await stat(into).catch(() => undefined)) throw new ExportFault(`${into} already exists.`);
  const store = createStore(config);
  const aside = await mkdtemp(join(dirname(into), '.export-'));
  try {
    const asked = { siteId, withVisitors, spoolDir: aside };
    const { content, files, rows } = await openSiteArchive({ config, clock, store }, asked);
    const archive = join(aside, 'site.tar');
    await pipeline(content, createWriteStream(archive, { mode: 0o600, flush: true }));
    await rename(archive, into);
    return { site_id: siteId, files, bytes: (await stat(into)).size, rows };
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}
