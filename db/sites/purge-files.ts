/**
 * Which files of a purged site nothing else names. Names are rows: of held files, which list all manifests, and of
 * columns with a hash. A transaction that names bytes which it did not store itself calls `lockHeldFilesForShare`.
 */
import { textArray } from '#db/arrays.ts';
import { type BlobColumn, blobColumns, hashIn } from '#db/blob-columns.ts';
import { listDeploymentFiles, unlistedDeployments } from '#db/deployments/held-files.ts';
import type { EntityManager } from '#db/orm.ts';
import { removeAlone } from '#db/removal-lock.ts';
import { lockInTransaction } from '#db/transaction-lock.ts';
import { parseManifest } from '#providers/manifest.ts';
import type { Store } from '#providers/store/store.ts';

const lockKey = 'held-files';
const batchSize = 100;
const deploymentsAtOnce = 50;

/** Until the transaction ends, no purge decides which files are named. */
export async function lockHeldFilesForShare(tx: EntityManager): Promise<void> {
  await tx.execute('select pg_advisory_xact_lock_shared(hashtextextended(?, 0))', [lockKey]);
}

type Reading = Pick<Store, 'readAll'>;

/** Records all files that the site's rows name. Repeating it adds nothing twice. */
export async function recordPurgeBlobs(
  em: EntityManager,
  store: Reading,
  siteId: string,
  heartbeat: () => void,
): Promise<void> {
  const ofSite = (columns: readonly BlobColumn[]) => ({
    hashes: columns.map((one) => `select ${hashIn(one)} as sha256 from ${one.table} where ${one.siteColumn} = ?`),
    values: columns.map(() => siteId),
  });
  const owned = blobColumns.filter(({ siteColumn }) => siteColumn !== undefined);
  const manifests = ofSite(owned.filter(({ isManifest }) => isManifest));
  const rows = await em.execute<{ sha256: string }[]>(
    `select encode(sha256, 'hex') as sha256 from (${manifests.hashes.join(' union ')}) as named where sha256 is not null`,
    manifests.values,
  );
  for (const { sha256 } of rows) {
    heartbeat();
    const content = await store.readAll(sha256);
    const files = content ? parseManifest(content).map((file) => file.sha256) : [];
    await addPurgeBlobs(em, siteId, [...new Set([sha256, ...files])]);
  }
  const files = ofSite(owned.filter(({ isManifest }) => !isManifest));
  await em.execute(
    `insert into purge_blob (site_id, sha256) select ?, sha256 from (${files.hashes.join(' union ')}) as named
     where sha256 is not null on conflict do nothing`,
    [siteId, ...files.values],
  );
}

async function addPurgeBlobs(em: EntityManager, siteId: string, hashes: string[]): Promise<void> {
  await em.execute(
    `insert into purge_blob (site_id, sha256) select ?, decode(hash, 'hex') from unnest(?::text[]) as hash on conflict do nothing`,
    [siteId, textArray(hashes)],
  );
}

/** Lists the files of all other sites, so that each is named by a row. Throws while the store lacks a manifest. */
export async function listAllFiles(em: EntityManager, store: Reading, heartbeat: () => void): Promise<void> {
  for (;;) {
    const asked = { condition: 'site.purged_at is null', values: [], limit: deploymentsAtOnce };
    const unlisted = await unlistedDeployments(em, asked);
    if (unlisted.length === 0) return;
    for (const deployment of unlisted) {
      heartbeat();
      if (!(await listDeploymentFiles(em, store, deployment)))
        throw new Error(`The store lacks a manifest of ${deployment.id}, so it is not known which files it needs.`);
    }
  }
}

const isNamed = blobColumns
  .map((one) => `exists (select 1 from ${one.table} where ${hashIn(one)} = purge_blob.sha256)`)
  .join(' or ');

/**
 * Removes the site's recorded files that nothing names from the store, once the store lets them go (`Store.remove`).
 * Returns how many are left for later. Throws while a backup is created.
 */
export async function removePurgeBlobs(
  em: EntityManager,
  store: Pick<Store, 'remove'>,
  siteId: string,
  heartbeat: () => void,
): Promise<number> {
  let left = 0;
  for (let after = ''; ; ) {
    heartbeat();
    const batch = await em.transactional(async (tx) => {
      // Every transaction that named a file of this site before its purge has ended; no later one can name it.
      await lockInTransaction(tx, lockKey);
      const rows = await tx.execute<{ hash: string; named: boolean }[]>(
        `select encode(sha256, 'hex') as hash, (${isNamed}) as named from purge_blob
         where site_id = ? and sha256 > decode(?, 'hex') order by sha256 limit ${batchSize}`,
        [siteId, after],
      );
      return rows;
    });
    const unnamed = batch.filter(({ named }) => !named).map(({ hash }) => hash);
    const kept = await removeAlone(em, () => store.remove(unnamed));
    left += kept.size;
    const done = batch.map(({ hash }) => hash).filter((hash) => !kept.has(hash));
    await em.execute(
      `delete from purge_blob where site_id = ? and sha256 in (select decode(hash, 'hex') from unnest(?::text[]) as hash)`,
      [siteId, textArray(done)],
    );
    const last = batch.at(-1);
    if (!last || batch.length < batchSize) return left;
    after = last.hash;
  }
}
