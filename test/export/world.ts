/** Archives, as they are written and as somebody else makes them. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { extract, pack } from 'tar-stream';
import type { SiteDocument } from '../../exports/document.ts';

export type Entry = { name: string; bytes: Buffer; type?: 'file' | 'symlink' | 'directory'; linkname?: string };

export async function openArchives() {
  const dir = await mkdtemp(join(tmpdir(), 'frontage-export-test-'));
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
