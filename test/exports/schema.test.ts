/** What an archive of a site must say something about, so that nothing is left out without anybody thinking of it. */
import type pg from 'pg';
import { expect, test } from 'vitest';
import { rowSchemas, siteDocument } from '#api/exports/document.ts';
import { excluded } from '#operator/exports/excluded.ts';
import { useDatabaseClient } from '#test/stack/database-client.ts';

let client: pg.Client;
useDatabaseClient((opened) => {
  client = opened;
});

/** Columns of each table whose rows are carried, by the names they have in the database. */
const { site, live } = siteDocument.shape;
const carried: Record<string, readonly string[]> = {
  site: Object.keys(site.shape),
  deployment: Object.keys(live.unwrap().shape),
  ...Object.fromEntries(Object.entries(rowSchemas).map(([table, { shape }]) => [table, Object.keys(shape)])),
};

async function tablesOfSites(): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `with recursive of_site (id) as (
       select 'site'::regclass::oid
       union select conrelid from pg_constraint join of_site on of_site.id = confrelid where contype = 'f')
     select id::regclass::text as name from of_site`,
  );
  return rows.map(({ name }) => name);
}

test('an archive has every table and column of a site, or excludes it explicitly', async () => {
  const tables = await tablesOfSites();
  expect(tables.length).toBeGreaterThan(20);
  const { rows } = await client.query<{ table: string; column: string }>(
    `select table_name as table, column_name as column from information_schema.columns where table_schema = 'public' and table_name = any($1)`,
    [Object.keys(carried)],
  );
  const untold = [
    ...tables.filter((name) => !(name in carried)),
    ...rows.filter(({ table, column }) => !carried[table]?.includes(column)).map((at) => `${at.table}.${at.column}`),
  ];
  expect(Object.keys(excluded).sort()).toEqual(untold.sort());
});
