/** Sites with something of everything, a worker that deletes them, and what is left of them. */
import { readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'vitest';
import { parseManifest } from '#providers/manifest.ts';
import { workflowIds } from '#rules/workflow-ids.ts';
import { newId } from '#runtime/ids.ts';
import { type Caller, errorOf } from '#test/api/fixture.ts';
import { createFixture } from '#test/backups/fixture.ts';
import { openLoad } from '#test/backups/load.ts';
import * as sample from '#test/git/samples.ts';
import { aroundActivities, createNamespace, startWorker } from '#test/stack/worker.ts';

export const dayMs = 24 * 3600_000;

/** `worker`: whether this process deletes, too. */
export async function createDeletionFixture({ worker: works = true } = {}) {
  const { around, interceptors } = aroundActivities();
  const fixture = await createFixture({ TEMPORAL_NAMESPACE: await createNamespace() });
  const worker = works ? await startWorker(fixture.deps, { interceptors }) : undefined;

  /** As after two days in which nobody put any of it again. */
  async function ageStore(): Promise<void> {
    const root = join(fixture.config.storeDir as string, 'sha256');
    const old = (Date.now() - 60 * dayMs) / 1000;
    for (const entry of await readdir(root, { recursive: true, withFileTypes: true }))
      if (entry.isFile()) await utimes(join(entry.parentPath, entry.name), old, old);
  }

  const workflowOf = (siteId: string) => fixture.deps.temporal.workflow.getHandle(workflowIds.deleteSite(siteId));

  async function rowsOf(siteId: string): Promise<Record<string, number>> {
    const em = fixture.deps.em();
    const tables = await em.execute<{ name: string }[]>(
      `select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'site_id'
       and table_name not in ('mail', 'history_entry') order by table_name`,
    );
    const counted = await Promise.all(
      tables.map(async ({ name }) => {
        const [{ count }] = await em.execute<[{ count: number }]>(
          `select count(*)::int as count from ${name} where site_id = ?`,
          [siteId],
        );
        return [name, count] as const;
      }),
    );
    return Object.fromEntries(counted.filter(([, count]) => count > 0));
  }

  async function hashesOf(siteId: string): Promise<Set<string>> {
    const rows = await fixture.deps
      .em()
      .execute<{ sha256: string }[]>(
        `select manifest_sha256 as sha256 from deployment where site_id = ? and manifest_sha256 is not null`,
        [siteId],
      );
    const hashes = new Set(rows.map(({ sha256 }) => sha256));
    for (const sha256 of [...hashes])
      for (const file of parseManifest((await fixture.deps.store.readAll(sha256)) as Buffer)) hashes.add(file.sha256);
    return hashes;
  }

  const files = (name: string, count: number): Record<string, string> =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        `p/${index}.html`,
        `<!doctype html><title>${name} ${index}</title>${'<p>Text</p>'.repeat(20)}`,
      ]),
    );

  /** A site with something of everything. */
  async function fullSite(count: number) {
    const load = await openLoad(fixture);
    const { owner, site } = load;
    for (const act of Object.values(load.acts)) await act();
    const shared = `<!doctype html><title>Shared of ${site.name}</title>${'<p>Shared</p>'.repeat(30)}`;
    await fixture.publish(site.id, owner.accountId, { ...files(site.name, count), 'shared.html': shared });
    const dep = await fixture.publish(site.id, owner.accountId, {
      'index.html': `<p>${site.name}`,
      'shared.html': shared,
    });
    const ruled = await owner.call('PUT', `/v1/sites/${site.id}/redirects`, {
      body: { rules: [{ from: `/old-${site.name}`, to: '/', status: 301 }] },
    });
    const comment = await owner.call('POST', `/v1/sites/${site.id}/comments`, {
      body: {
        page: '/',
        body: 'Larger',
        screenshot_base64: Buffer.from(sample.pngOf(3, count % 200)).toString('base64'),
      },
    });
    const review = await owner.call('POST', `/v1/sites/${site.id}/review-links`);
    const upload = await owner.call('POST', `/v1/sites/${site.id}/uploads`, { body: {} });
    for (const { status, text } of [ruled, comment, review, upload]) if (status !== 200) throw new Error(text);
    const caches = [`${site.id}.img.tar`, `${site.id}.drafts.img.tar`];
    for (const cache of caches) await fixture.deps.store.caches.put(cache, Readable.from([Buffer.from('cache')]));
    const [em, now] = [fixture.deps.em(), fixture.clock.now()];
    await em.execute(`update deployment set image = 'img' where id = ?`, [dep]);
    await em.execute(`insert into build_log (deployment_id, seq, text) values (?, 1, 'built')`, [dep]);
    const domain = await addDomain(owner, site.id);
    const payment = await addPayment(owner, site.id);
    await em.execute(
      `insert into view_total (site_id, unit, start, views, visitors, pages, referrers, countries, devices)
     values (?, 'day', ?, 1, 1, '{}', '{}', '{}', '{}')`,
      [site.id, now],
    );
    return { ...load, shared, caches, domain, payment };
  }

  async function addDomain(owner: Caller, siteId: string) {
    const [em, now, id] = [fixture.deps.em(), fixture.clock.now(), newId('dom')];
    const name = `${id.slice(4).toLowerCase()}.test`;
    await em.execute(
      `insert into domain (id, account_id, name, registrable, mode, status, status_since, proof, pair, proved_at, site_id, is_primary, attached_at, created_at, next_check_at)
     values (?, ?, ?, ?, 'cname', 'active', ?, ?, ?, ?, ?, true, ?, ?, ?)`,
      [id, owner.accountId, name, name, now, id, id, now, siteId, now, now, new Date(now.getTime() + 365 * dayMs)],
    );
    await em.execute(
      `insert into certificate (id, domain_id, name, status, chain, sealed_key, not_before, not_after, renew_at, created_at)
     values (?, ?, ?, 'active', 'chain', '\\x01', ?, ?, ?, ?)`,
      [newId('cert'), id, name, now, new Date(now.getTime() + 90 * dayMs), new Date(now.getTime() + 60 * dayMs), now],
    );
    return { id, name };
  }

  async function addPayment(owner: Caller, siteId: string): Promise<string> {
    const [em, now, id, payout] = [fixture.deps.em(), fixture.clock.now(), newId('pay'), newId('pout')];
    await em.execute(
      `insert into payout_account (id, account_id, rail, name, status, created_at) values (?, ?, 'connect', 'Shop', 'pending', ?)`,
      [payout, owner.accountId, now],
    );
    await em.execute(`insert into payout_agreement (id, site_id, payout_account_id, began_at) values (?, ?, ?, ?)`, [
      newId('agr'),
      siteId,
      payout,
      now,
    ]);
    await em.execute(
      `insert into payment (id, site_id, payout_account_id, amount, currency, status, expires_at, paid_at, created_at)
     values (?, ?, ?, 100, 'EUR', 'paid', ?, ?, ?)`,
      [id, siteId, payout, now, now, now],
    );
    return id;
  }

  async function startDeletion({ owner, site }: { owner: Caller; site: { id: string } }): Promise<void> {
    expect((await owner.call('POST', `/v1/sites/${site.id}/archive`)).status).toBe(200);
    const { status, text } = await owner.call('DELETE', `/v1/sites/${site.id}?confirm=true&discard=true`);
    if (status !== 200) throw new Error(text);
    await expect.poll(async () => (await workflowOf(site.id).describe()).status.name).toBe('RUNNING');
  }

  async function purge(siteId: string): Promise<void> {
    fixture.skip(31 * dayMs);
    // As the workflow's own timer would: the engine's clock cannot be moved.
    await workflowOf(siteId).signal('moved');
    expect(await workflowOf(siteId).result()).toEqual({ status: 'purged' });
  }

  /** All that is left are the receipts. */
  async function expectGone({ owner, site, caches, domain, payment }: Awaited<ReturnType<typeof fullSite>>) {
    expect(Object.keys(await rowsOf(site.id)).sort()).toEqual([
      'bookable',
      'booking',
      'calendar',
      'payment',
      'payout_agreement',
    ]);
    const em = fixture.deps.em();
    expect(
      await em.execute('select visitor_name, intake, visitor_sealed from booking where site_id = ?', [site.id]),
    ).toEqual([{ visitor_name: '', intake: [], visitor_sealed: null }]);
    expect(await em.execute('select id, status from payment where site_id = ?', [site.id])).toEqual([
      { id: payment, status: 'paid' },
    ]);
    expect(
      await em.execute('select 1 from payout_agreement where site_id = ? and ended_at is null', [site.id]),
    ).toEqual([]);
    expect(await em.execute('select account_id, site_id, removed_at from domain where id = ?', [domain.id])).toEqual([
      { account_id: owner.accountId, site_id: null, removed_at: null },
    ]);
    expect(await em.execute('select chain, sealed_key from certificate where domain_id = ?', [domain.id])).toEqual([
      { chain: null, sealed_key: null },
    ]);
    expect(await fixture.deps.repositories?.siteIds()).not.toContain(site.id);
    for (const cache of caches) expect(await fixture.deps.store.caches.read(cache)).toBeUndefined();
    const { items: history } = (await owner.call('GET', '/v1/account/history')).body;
    expect(history[0]).toMatchObject({ action: 'site.purged', via: { kind: 'platform' }, subject: { id: site.id } });
    expect(errorOf(await owner.call('GET', `/v1/sites/${site.id}`)).code).toBe('not_found');
    expect((await owner.call('GET', '/v1/sites?status=deleting')).body.items).toEqual([]);
  }

  return {
    ...fixture,
    around,
    ageStore,
    workflowOf,
    hashesOf,
    rowsOf,
    fullSite,
    startDeletion,
    purge,
    expectGone,
    async close() {
      await worker?.close();
      await fixture.close();
    },
  };
}
export type DeletionFixture = Awaited<ReturnType<typeof createDeletionFixture>>;
