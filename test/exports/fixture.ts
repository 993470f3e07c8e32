/** Archives, as they are written and as somebody else makes them. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { extract, pack } from 'tar-stream';
import { openAccount } from '#api/accounts/rules.ts';
import type { SiteDocument } from '#api/exports/document.ts';
import { exportSite } from '#operator/exports/archive-writer.ts';
import { createFixture, openInstallation } from '#test/backups/fixture.ts';
import { openLoad } from '#test/backups/load.ts';
import { makeFolder } from '#test/stack/database.ts';

export type Entry = { name: string; bytes: Buffer; type?: 'file' | 'symlink' | 'directory'; linkname?: string };

export async function openArchives() {
  const dir = await makeFolder('frontage-export-test-');
  let count = 0;
  return {
    path: () => join(dir, `${++count}.tar`),
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}

export async function entriesOf(archive: string): Promise<Entry[]> {
  const tar = extract();
  tar.end(await readFile(archive));
  const entries: Entry[] = [];
  for await (const entry of tar) entries.push({ name: entry.header.name, bytes: await buffer(entry) });
  return entries;
}

export async function writeArchive(archive: string, entries: readonly Entry[]): Promise<string> {
  const tar = pack();
  for (const { name, bytes, type = 'file', linkname } of entries)
    tar.entry({ name, type, ...(linkname ? { linkname } : {}) }, type === 'file' ? bytes : '');
  tar.finalize();
  await writeFile(archive, await buffer(tar));
  return archive;
}

/** The same archive with another `site.json`. */
export function withDocument(entries: readonly Entry[], change: (document: SiteDocument) => void): Entry[] {
  return entries.map((entry) => {
    if (entry.name !== 'site.json') return entry;
    const document = JSON.parse(entry.bytes.toString());
    change(document);
    return { ...entry, bytes: Buffer.from(JSON.stringify(document)) };
  });
}

/** Times of a booking far beyond the horizon of any service. */
export const inYear9999 = {
  starts_at: '9999-01-01T10:00:00Z',
  ends_at: '9999-01-01T11:00:00Z',
  busy_from: '9999-01-01T10:00:00Z',
  busy_until: '9999-01-01T11:00:00Z',
};

/** A site with a live version, and its archive. */
export async function openExport() {
  const [fixture, archives] = await Promise.all([createFixture(), openArchives()]);
  const load = await openLoad(fixture);
  await load.acts.publish();
  const exported = archives.path();
  await exportSite(fixture, { siteId: load.site.id, into: exported, withVisitors: true });
  return {
    fixture,
    archives,
    site: load.site,
    owner: load.owner,
    exported,
    async close() {
      await Promise.all([load.close(), archives.remove()]);
      await fixture.close();
    },
  };
}

/** An installation without sites, and an account in it. */
export async function openEmpty() {
  const made = await openInstallation();
  const { id } = await openAccount(made.deps.em(), made.clock, { email: 'new@example.com', name: 'New' });
  return { ...made, accountId: id };
}
