/**
 * Which files of a purged site nothing else names. Names are rows: of held files, which list all manifests, and of
 * columns with a hash. Whatever makes a name of bytes that it did not put itself holds `shareHeldFiles` meanwhile.
 */
import { textArray } from '#db/arrays.ts';
import { listDeploymentFiles, unlistedDeployments } from '#db/deployments/held-files.ts';
import type { EntityManager } from '#db/orm.ts';
import { lockInTransaction } from '#db/transaction-lock.ts';
import { parseManifest } from '#providers/manifest.ts';
import type { Store } from '#providers/store/store.ts';

const lockKey = 'held-files';
const removalKey = 'removal of files';
const batchSize = 100;
const deploymentsAtOnce = 50;

/** Until the transaction ends, no purge decides which files are named. */
export async function shareHeldFiles(tx: EntityManager): Promise<void> {
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
  const manifests = await em.execute<{ sha256: string }[]>(
    `select manifest_sha256 as sha256 from deployment where site_id = ? and manifest_sha256 is not null
     union select published_output ->> 'manifestSha256' from deployment where site_id = ? and published_output is not null`,
    [siteId, siteId],
  );
  for (const { sha256 } of manifests) {
    heartbeat();
    const content = await store.readAll(sha256);
    const files = content ? parseManifest(content).map((file) => file.sha256) : [];
    await addPurgeBlobs(em, siteId, [...new Set([sha256, ...files])]);
  }
  await em.execute(
    `insert into purge_blob (site_id, sha256) select ?, sha256 from (
       select sha256 from held_file where site_id = ?
       union select decode(picture_sha256, 'hex') from comment_thread where site_id = ? and picture_sha256 is not null
       union select decode(redirects_sha256, 'hex') from site where id = ? and redirects_sha256 is not null) as named
     on conflict do nothing`,
    [siteId, siteId, siteId, siteId],
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

const isNamed = `exists (select 1 from held_file held where held.sha256 = purge_blob.sha256)
  or sha256 in (select sha256 from upload_file)
  or encode(sha256, 'hex') in (
    select manifest_sha256 from deployment where manifest_sha256 is not null
    union all select published_output ->> 'manifestSha256' from deployment where published_output is not null
    union all select redirects_sha256 from site where redirects_sha256 is not null
    union all select picture_sha256 from comment_thread where picture_sha256 is not null
    union all select sha256 from sketch_host where sha256 is not null)`;

/**
 * Removes the site's recorded files that nothing names from the store, once the store lets them go (`Store.remove`).
 * Returns how many are left for later.
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
      // Whoever began to name a file of this site before its purge has done so now; nobody can begin later.
      await lockInTransaction(tx, lockKey);
      const rows = await tx.execute<{ hash: string; named: boolean }[]>(
        `select encode(sha256, 'hex') as hash, (${isNamed}) as named from purge_blob
         where site_id = ? and sha256 > decode(?, 'hex') order by sha256 limit ${batchSize}`,
        [siteId, after],
      );
      return rows;
    });
    const unnamed = batch.filter(({ named }) => !named).map(({ hash }) => hash);
    // One removal at a time: between two of the same file, a publish may put it back.
    const kept = await em.transactional(async (tx) => {
      await lockInTransaction(tx, removalKey);
      return await store.remove(unnamed);
    });
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
