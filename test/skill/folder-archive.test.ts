/** The archive of a folder, as the client writes it without a library. */
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withArchive } from '#skill/client/folder-archive.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'frontage-folder-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('an archive has the regular files of a folder, whatever their names and sizes', async () => {
  const files: Record<string, Buffer> = {
    'index.html': Buffer.from('front'),
    'empty.txt': Buffer.alloc(0),
    'block.bin': Buffer.alloc(512, 1),
    'large.bin': Buffer.alloc(300_001, 2),
    [`${'long/'.repeat(60)}ü 日本 $(touch x) '".txt`]: Buffer.from('deep'),
    '-rf': Buffer.from('flag'),
    'line\nbreak': Buffer.from('line'),
  };
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  await symlink('/etc/passwd', join(folder, 'link'));
  let path = '';
  const found = await withArchive(folder, async (archive, leftOut) => {
    path = archive;
    expect(leftOut).toEqual(['link']);
    const entries = createReadStream(archive).pipe(createGunzip()).pipe(extract());
    const read: Record<string, Buffer> = {};
    for await (const entry of entries) read[entry.header.name] = await buffer(entry);
    return read;
  });
  expect(found).toEqual(files);
  await expect(readdir(join(path, '..'))).rejects.toThrow('ENOENT');
});

test('an archive leaves out what is hidden, and names it', async () => {
  const site = await mkdtemp(join(folder, 'site-'));
  for (const path of ['index.html', '.env', '.git/HEAD', 'a/.DS_Store', '.well-known/security.txt']) {
    await mkdir(join(site, path, '..'), { recursive: true });
    await writeFile(join(site, path), path);
  }
  const [names, hidden] = await withArchive(site, async (archive, hidden) => {
    const entries = createReadStream(archive).pipe(createGunzip()).pipe(extract());
    const names: string[] = [];
    for await (const entry of entries) {
      names.push(entry.header.name);
      entry.resume();
    }
    return [names, hidden];
  });
  expect(names).toEqual(['.well-known/security.txt', 'index.html']);
  expect(hidden).toEqual(['.env', '.git', 'a/.DS_Store']);
});
