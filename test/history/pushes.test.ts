/** The history of a push and of a commit by a call, whatever happens between the move of the branch and the entry. */
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { sweep } from '#api/sweeps.ts';
import { completeAbandonedPushes } from '#git/accepted-pushes.ts';
import type { Repositories } from '#providers/repositories.ts';
import { hourMs } from '#rules/time.ts';
import { newId } from '#runtime/ids.ts';
import { type Caller, createFixture, createSite, errorOf } from '#test/api/fixture.ts';
import { cloneSite, pushesOf, startKilledApi } from './cloned-site.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());
const repositories = fixture.deps.repositories as Repositories;

const rowsOf = (siteId: string) =>
  fixture.deps.em().execute('select id from accepted_push where site_id = ?', [siteId]);
const clonedSite = () => cloneSite(fixture);

test('a push is recorded although the API was killed before it could', { timeout: 180_000 }, async () => {
  const site = await clonedSite();
  const { url, ended } = await startKilledApi(fixture, site.to);
  await site.push(url);
  expect(await ended).toBe('SIGKILL');
  expect(await repositories.head(site.siteId, 'source')).toBe(site.to);
  expect(await pushesOf(site)).toEqual([]);

  // The database may still hold the locks of the killed process.
  await expect.poll(() => sweep(fixture.deps).then(() => pushesOf(site)), { timeout: 20_000 }).toHaveLength(1);
  await sweep(fixture.deps);
  expect(await pushesOf(site)).toMatchObject([
    {
      account: { id: site.owner.accountId },
      via: { kind: 'git', name: 'first' },
      subject: { kind: 'repository', id: site.siteId, name: 'source' },
      detail: { branch: 'main', from: site.from, to: site.to },
    },
  ]);
  expect(await rowsOf(site.siteId)).toEqual([]);
});

/** Acts each time the API reads that a branch is at this commit. */
function whenRead(commit: string, act: () => Promise<void>): void {
  onTestFinished(() => void vi.restoreAllMocks());
  const head = repositories.head.bind(repositories);
  vi.spyOn(repositories, 'head').mockImplementation(async (...which) => {
    const found = await head(...which);
    if (found === commit) await act();
    return found;
  });
}

/** Acts each time the API asks whether this commit was pushed to main. */
function whenAsked(commit: string, act: () => Promise<void>): void {
  onTestFinished(() => void vi.restoreAllMocks());
  const ask = repositories.wasPushed.bind(repositories);
  vi.spyOn(repositories, 'wasPushed').mockImplementation(async (...which) => {
    const [, , branch, { to }] = which;
    if (branch === 'main' && to === commit) await act();
    return ask(...which);
  });
}

/** Ends the connections that hold this lock on the table. Returns how many. */
async function endHolders(table: string, mode: string): Promise<number> {
  const holders = await fixture.deps.em().execute(
    `select pg_terminate_backend(pid) from pg_locks where relation = ?::regclass and mode = ?
       and database = (select oid from pg_database where datname = current_database()) and pid <> pg_backend_pid()`,
    [table, mode],
  );
  return holders.length;
}

test('a push is recorded although the connection that held its password is lost', async () => {
  const site = await clonedSite();
  let lost = 0;
  whenAsked(site.to, async () => {
    if (lost > 0) return;
    lost += await endHolders('git_credential', 'RowShareLock');
  });
  await site.push();
  await expect.poll(() => pushesOf(site), { timeout: 20_000 }).toHaveLength(1);
  expect(lost).toBe(1);
});

test('a commit by a call is recorded although the database fails after git', async () => {
  const owner = await fixture.newCaller();
  const { id: siteId } = await createSite(owner);
  onTestFinished(() => void vi.restoreAllMocks());
  const make = repositories.commit.bind(repositories);
  vi.spyOn(repositories, 'commit').mockImplementationOnce(async (...which) => {
    const made = await make(...which);
    await endHolders('history_entry', 'RowExclusiveLock');
    return made;
  });
  const body = { message: 'Add b', changes: [{ path: 'src/b.md', text: 'b' }] };
  const lost = await owner.call('POST', `/v1/sites/${siteId}/commits`, { body });
  expect([lost.status, errorOf(lost).code]).toEqual([502, 'storage_error']);
  const commits = async () => {
    const { items } = (await owner.call('GET', `/v1/sites/${siteId}/history`)).body;
    return items.filter(({ action }: { action: string }) => action === 'repository.committed');
  };
  expect(await commits()).toEqual([]);
  await sweep(fixture.deps);
  await sweep(fixture.deps);
  const commit = await repositories.head(siteId, 'source');
  const detail = { branch: 'main', commit, files_changed: 1, source: 'api' };
  expect(await commits()).toMatchObject([{ via: { kind: 'token', name: 'first' }, detail }]);
  expect(await rowsOf(siteId)).toEqual([]);
});

test('a push that cannot be recorded is recorded by the next clean-up', async () => {
  const site = await clonedSite();
  let isReadable = false;
  let failures = 0;
  whenAsked(site.to, async () => {
    if (isReadable) return;
    failures += 1;
    throw new Error('unreadable');
  });
  await site.push();
  // As the entry was to be written, and as that was repeated.
  await expect.poll(() => failures, { timeout: 20_000 }).toBe(2);
  expect(await pushesOf(site)).toEqual([]);
  isReadable = true;
  await expect.poll(() => sweep(fixture.deps).then(() => pushesOf(site)), { timeout: 20_000 }).toHaveLength(1);
});

test('a branch that git did not move is forgotten after an hour', async () => {
  const { siteId, owner, from } = await clonedSite();
  const em = fixture.deps.em();
  const add = (at: Date) =>
    em.execute(
      `insert into accepted_push (id, accepted_at, site_id, repository, branch, from_commit, to_commit, account_id)
       values (?, ?, ?, 'source', 'main', ?, ?, ?)`,
      [newId('hist'), at, siteId, from, 'e'.repeat(40), owner.accountId],
    );
  const { clock } = fixture.deps;
  await add(new Date(clock.now().getTime() - hourMs - 1));
  await add(clock.now());
  expect(await completeAbandonedPushes(em, clock, repositories)).toBe(0);
  expect(await rowsOf(siteId)).toHaveLength(1);
  expect(await pushesOf({ owner, siteId })).toEqual([]);
});

const onMain = async (site: { owner: Caller; siteId: string }) =>
  (await pushesOf(site)).filter(({ detail }: { detail: { branch: string } }) => detail.branch === 'main');

test('a push that git refused is not recorded although its branch has the commit', async () => {
  const site = await clonedSite();
  await site.push(fixture.url, 'preview/1');
  let reads = 0;
  whenRead(site.from, async () => {
    reads += 1;
    // After git has told the client where the branch is: the third read is that of the second request.
    if (reads !== 3) return;
    const move = { repository: 'source', branch: 'main', from: site.from, to: site.to } as const;
    expect(await repositories.move(site.siteId, [move])).toBe(true);
  });
  expect((await site.push()).stderr).toContain('failed to update ref');
  await expect.poll(() => rowsOf(site.siteId), { timeout: 20_000 }).toEqual([]);
  expect(await repositories.head(site.siteId, 'source')).toBe(site.to);
  expect(await onMain(site)).toEqual([]);
});

test('a push whose process died is not recorded after another of that commit', async () => {
  const site = await clonedSite();
  await fixture.deps.em().execute(
    `insert into accepted_push (id, accepted_at, site_id, repository, branch, from_commit, to_commit, account_id)
     values (?, ?, ?, 'source', 'main', ?, ?, ?)`,
    [newId('hist'), fixture.deps.clock.now(), site.siteId, site.from, site.to, site.owner.accountId],
  );
  await site.push();
  await expect.poll(() => pushesOf(site), { timeout: 20_000 }).not.toEqual([]);
  await sweep(fixture.deps);
  expect(await pushesOf(site)).toHaveLength(1);
});

test('a push is recorded although its branch moved on before', async () => {
  const site = await clonedSite();
  const next = await site.commit({ 'src/c.md': 'c' });
  await site.push(fixture.url, 'preview/1');
  let isMoved = false;
  whenAsked(site.to, async () => {
    const move = { repository: 'source', branch: 'main', from: site.to, to: next } as const;
    isMoved ||= await repositories.move(site.siteId, [move]);
  });
  await site.push(fixture.url, 'main', site.to);
  await expect.poll(() => onMain(site), { timeout: 20_000 }).toHaveLength(1);
  expect(isMoved).toBe(true);
  expect((await onMain(site))[0].detail).toEqual({ branch: 'main', from: site.from, to: site.to });
});
