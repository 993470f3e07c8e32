/** The list of columns with hashes of store files decides which files a purge keeps. */
import { afterAll, expect, test } from 'vitest';
import { blobColumns } from '#db/blob-columns.ts';
import type { EntityManager } from '#db/orm.ts';
import { recordPurgeBlobs, removePurgeBlobs } from '#db/sites/purge-files.ts';
import { createFixture } from '#test/api/fixture.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());

const [named, unnamed] = ['a'.repeat(64), 'b'.repeat(64)];

/** Runs in copies of all tables that may name files, without rows and constraints; they go with the transaction. */
async function inEmptyTables(act: (tx: EntityManager) => Promise<void>): Promise<void> {
  const rollback = new Error('rollback');
  const ended = fixture.deps.em().transactional(async (tx) => {
    for (const table of new Set([...blobColumns.map((one) => one.table), 'purge_blob']))
      await tx.execute(`create temporary table ${table} as select * from public.${table} with no data`);
    await act(tx);
    throw rollback;
  });
  await expect(ended).rejects.toBe(rollback);
}

const namingValue = ({ property, isBinary }: (typeof blobColumns)[number]) => {
  if (isBinary) return Buffer.from(named, 'hex');
  return property ? JSON.stringify({ [property]: named }) : named;
};

const listed = blobColumns.map((one) => [`${one.table}.${one.column}`, one] as const);

test.each(listed)('a purge keeps a file that a row of another site names in %s', async (_, one) => {
  await inEmptyTables(async (tx) => {
    await tx.execute(`insert into ${one.table} (${one.column}) values (?)`, [namingValue(one)]);
    for (const hash of [named, unnamed])
      await tx.execute(`insert into purge_blob (site_id, sha256) values ('site_1', decode(?, 'hex'))`, [hash]);
    const removed: string[] = [];
    const remove = async (hashes: string[]) => {
      removed.push(...hashes);
      return new Set<string>();
    };
    await removePurgeBlobs(tx, { remove }, 'site_1', () => {});
    expect(removed).toEqual([unnamed]);
  });
});

test.each(listed.filter(([, { siteColumn }]) => siteColumn))('a purge records the files of %s', async (_, one) => {
  await inEmptyTables(async (tx) => {
    for (const value of [namingValue(one), null])
      await tx.execute(`insert into ${one.table} (${one.siteColumn}, ${one.column}) values ('site_1', ?)`, [value]);
    await tx.execute('alter table purge_blob add primary key (site_id, sha256)');
    await recordPurgeBlobs(tx, { readAll: async () => undefined }, 'site_1', () => {});
    await recordPurgeBlobs(tx, { readAll: async () => undefined }, 'site_2', () => {});
    const rows = await tx.execute(`select site_id, encode(sha256, 'hex') as sha256 from purge_blob`);
    expect(rows).toEqual([{ site_id: 'site_1', sha256: named }]);
  });
});
