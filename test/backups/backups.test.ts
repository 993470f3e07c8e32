import { truncate } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openAccount } from '#api/accounts/rules.ts';
import { blobLines, repositoryLines } from '#operator/backups/check.ts';
import { createBackup } from '#operator/backups/create.ts';
import { readManifest } from '#operator/backups/manifest.ts';
import { type BackupRepository, openBackupRepository } from '#operator/backups/repository.ts';
import { restoreBackup } from '#operator/backups/restore.ts';
import type { Option } from '#operator/commands/command.ts';
import { readCommand } from '#operator/commands/commands.ts';
import type { Repositories } from '#providers/repositories.ts';
import { blobPath } from '#providers/store/disk.ts';
import { newId } from '#runtime/ids.ts';
import { callWith } from '#test/api/fixture.ts';
import { folder, git } from '#test/git/git.ts';
import { sender } from '#test/output/sending.ts';
import { flipBit } from './damage.ts';
import { createFixture, type Fixture, type Installation, keepOpened } from './fixture.ts';
import { type Load, openLoad } from './load.ts';

// Each of them is a backup or two: much work for a machine that has others to do.
vi.setConfig({ testTimeout: 180_000 });

let fixture: Fixture;
let load: Load;
const { opened, elsewhere, newFolder, closeAll } = keepOpened();
beforeAll(async () => {
  fixture = await createFixture();
  load = await openLoad(fixture);
  for (const act of Object.values(load.acts)) await act();
});
afterAll(async () => {
  await closeAll();
  await load?.close();
  await fixture?.close();
});

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const accounts = async ({ deps }: Installation) => (await deps.em().execute('select 1 from account')).length;

test('a backup restored to another installation works: pages, tokens, clones, forms, new publishes', async () => {
  const backups = await newFolder();
  const manifest = await backups.create(fixture);
  expect(await backups.check(fixture)).toMatchObject({ faults: [], repositories: 2 });
  // Its API and its edge run already, and have nothing to show yet.
  const other = await createFixture();
  opened.push(other);
  expect(await backups.restore(other, manifest.name)).toMatchObject({ repositories: 2 });
  expect(await load.missing(other, new Date(manifest.at))).toEqual({ promised: 5, missing: [] });
  const { site, owner, form } = load;
  const call = callWith(other.url, owner.token);
  expect((await call('GET', `/v1/sites/${site.id}`)).body.id).toBe(site.id);
  const page = async (in_: Fixture, headers = {}) => (await in_.visit(site.name, '/', headers)).text;
  await expect.poll(() => page(other)).toBe(await page(fixture));
  const brotli = { 'accept-encoding': 'br' };
  expect(await page(other, brotli)).toBe(await page(fixture, brotli));
  const { body: login } = await call('POST', `/v1/sites/${site.id}/git-credentials`, {
    body: { repository: 'source', access: 'read' },
  });
  const address = Object.assign(new URL(`${other.url}/git/${site.id}.git`), login);
  await using clone = await folder();
  await git(clone.path, ['clone', '--quiet', address.href, '.']);
  expect(await git(clone.path, ['rev-parse', 'HEAD'])).toBe(await fixture.deps.repositories?.head(site.id, 'source'));
  expect((await callWith(other.url)('GET', `/f/${form.id}/challenge`)).status).toBe(200);
  await sender({ ...owner, call }).publish(site, { 'index.html': 'published after the restore' });
  await expect.poll(() => page(other)).toBe('published after the restore');
});

test('a second backup copies only new data, and each backup is complete', async () => {
  const backups = await newFolder();
  const first = await backups.create(fixture);
  const before = await backups.files();
  const second = await backups.create(fixture);
  const fresh = (await backups.files()).filter((path) => !before.includes(path));
  // Its name and its manifest, and what the fixtures have written to rows meanwhile.
  expect(fresh.length).toBeLessThan(6);
  expect(second.blobs).toEqual(first.blobs);
  await load.acts.push();
  const third = await backups.create(fixture);
  for (const { name } of [first, third]) expect((await backups.check(fixture, name)).faults).toEqual([]);
  const other = await elsewhere();
  await backups.restore(other, third.name);
  expect((await load.missing(other, new Date(third.at))).missing).toEqual([]);
});

test('a backup with altered, truncated or missing files is detected, and restores no rows', async () => {
  const backups = await newFolder();
  const manifest = await backups.create(fixture);
  const { name, tables, repositories, blobs } = manifest;
  const place = await openBackupRepository(fixture.config, backups.where);
  const site = tables.find((table) => table.name === 'site') as (typeof tables)[number];
  const [git] = await collect(repositoryLines(place.store, manifest));
  const [file] = await collect(blobLines(place.store, manifest));
  const parts = { site, repositories, blobs, pack: git?.packs[0], objects: git?.objects, file };
  for (const [what, part] of Object.entries(parts)) {
    // What a restore has brought already, the next one does not read again.
    const other = await elsewhere();
    const mend = await flipBit(blobPath(backups.where, part?.sha256 as string));
    expect((await backups.check(fixture)).faults.length, what).toBeGreaterThan(0);
    // Its list of objects is for the next backup alone.
    if (what !== 'objects') await expect(backups.restore(other), what).rejects.toThrow();
    expect(await accounts(other), what).toBe(0);
    await mend();
  }
  expect((await backups.check(fixture)).faults).toEqual([]);
  await truncate(blobPath(backups.where, file?.sha256 as string), 3);
  expect((await backups.check(fixture)).faults).toHaveLength(1);
  // The name leads to the manifest by its hash.
  await flipBit(blobPath(backups.where, (await place.read(name)) as string));
  await expect(readManifest(place, name)).rejects.toThrow('The backup is damaged');
});

test('a backup to a full disk is unnamed, and the next reuses its files', async () => {
  const backups = await newFolder();
  const place = await openBackupRepository(fixture.config, backups.where);
  for (const until of [0, 60]) {
    let puts = 0;
    const full: BackupRepository = {
      ...place,
      store: {
        ...place.store,
        async put(content, options) {
          if (puts++ >= until) throw new Error('ENOSPC: no space left on device');
          return await place.store.put(content, options);
        },
      },
    };
    await expect(createBackup(fixture, full)).rejects.toThrow('ENOSPC');
    expect(await place.names()).toEqual([]);
  }
  await backups.create(fixture);
  expect((await backups.check(fixture)).faults).toEqual([]);
});

test('an interrupted restore leaves no rows or all of them, and can be repeated', async () => {
  const backups = await newFolder();
  const manifest = await backups.create(fixture);
  const place = await openBackupRepository(fixture.config, backups.where);
  const other = await elsewhere();
  for (const until of [1, 20, 50]) {
    let reads = 0;
    const torn: BackupRepository = {
      ...place,
      store: {
        ...place.store,
        async read(...asked) {
          if (reads++ >= until) throw new Error('the process was killed');
          return await place.store.read(...asked);
        },
      },
    };
    await expect(restoreBackup(other, torn, manifest)).rejects.toThrow();
    expect(await accounts(other)).toBe(0);
  }
  const dead = {
    now: () => {
      throw new Error('the process was killed');
    },
  };
  // After the rows, before what they say is under way was started.
  await expect(restoreBackup({ config: other.config, clock: dead }, place, manifest)).rejects.toThrow('killed');
  expect(await accounts(other)).toBe(1);
  expect((await backups.restore(other)).restarted.notify).toBeGreaterThan(0);
  await expect(backups.restore(other)).rejects.toThrow('not empty');
  expect((await load.missing(other, new Date(manifest.at))).missing).toEqual([]);
});

test('a restore over an installation in use is refused and changes nothing', async () => {
  const backups = await newFolder();
  await backups.create(fixture);
  const used = await elsewhere();
  const account = await openAccount(used.deps.em(), used.clock, { email: 'ada@example.com', name: 'Ada' });
  await expect(backups.restore(used)).rejects.toThrow(
    'not empty: the table account has rows. Nothing has been changed',
  );
  expect(await used.deps.em().execute('select id from account')).toEqual([{ id: account.id }]);
  expect(await used.deps.repositories?.siteIds()).toEqual([]);
  // Its own installation neither, also where only the folder of repositories is in use.
  await expect(backups.restore(fixture)).rejects.toThrow('not empty');
  const { config, clock } = await elsewhere();
  const { repositoriesDir } = fixture.config;
  await expect(backups.restore({ config: { ...config, repositoriesDir }, clock })).rejects.toThrow(
    'already contains repositories',
  );
});

test('a slot’s branch that was cleared during the backup is restored with its rows', async () => {
  const { site, owner } = load;
  const repositories = fixture.deps.repositories as Repositories;
  const commit = (await repositories.head(site.id, 'source')) as string;
  const [deployment, em] = [newId('dep'), fixture.deps.em()];
  await em.execute(
    `insert into deployment (id, site_id, number, kind, status, ticket, slot, source_commit, site_url, created_by_id, created_at)
     values (?, ?, 900001, 'draft', 'cancelled', 0, 1, ?, 'http://site.test', ?, ?)`,
    [deployment, site.id, commit, owner.accountId, fixture.clock.now()],
  );
  await em.execute('insert into preview (id, site_id, slot, label, latest_id, created_at) values (?, ?, 1, ?, ?, ?)', [
    newId('prev'),
    site.id,
    'p--nobody',
    deployment,
    fixture.clock.now(),
  ]);
  const backups = await newFolder();
  await backups.create(fixture);
  const other = await elsewhere();
  const { restarted } = await backups.restore(other);
  expect(await other.deps.repositories?.head(site.id, 'source', 'preview/1')).toBe(commit);
  expect(restarted.expirePreview).toBe(1);
});

test('the commands report their work, and print no key', async () => {
  const backups = await newFolder();
  const { config, clock } = fixture;
  const ask = async (in_: Installation, ...args: string[]) => {
    const { command, given } = readCommand(args);
    const deps = { em: in_.deps.em(), config: in_.config, clock };
    return (await command?.run(deps, given as Record<Option, string>)) as Record<string, unknown>;
  };
  const made = await ask(fixture, 'backup', 'create', '--into', backups.where);
  expect(made.keys).toContain('store FRONTAGE_SECRET and FRONTAGE_SEALING_KEYS elsewhere');
  expect(await ask(fixture, 'backup', 'list', '--from', backups.where)).toMatchObject({
    items: [{ backup: made.backup }],
  });
  expect(await ask(fixture, 'backup', 'check', '--from', backups.where)).toMatchObject({ faults: [] });
  const restored = await ask(await elsewhere(), 'backup', 'restore', '--from', backups.where);
  expect(restored).toMatchObject({ backup: made.backup, sealed: { 'mail.sealed': { secret: expect.any(Number) } } });
  await flipBit((await backups.files()).filter((path) => path.includes('/sha256/'))[3] as string);
  await expect(ask(fixture, 'backup', 'check', '--from', backups.where)).rejects.toThrow(/damaged/);
  await expect(ask(fixture, 'backup', 'create', '--into', config.storeDir as string)).rejects.toThrow(
    'is the installation’s own store',
  );
  expect(JSON.stringify([made, restored])).not.toContain(fixture.config.secret);
});
