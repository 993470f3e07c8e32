/** Properties of the schema that keep backups complete. */
import type pg from 'pg';
import { expect, test } from 'vitest';
import { blobColumns } from '#db/blob-columns.ts';
import { workflowRegistry } from '#db/workflow-registry.ts';
import { commitColumns } from '#operator/backups/check.ts';
import { tablesOf } from '#operator/backups/tables.ts';
import { workflowIds } from '#rules/workflow-ids.ts';
import { useDatabaseClient } from '#test/stack/database-client.ts';

let client: pg.Client;
useDatabaseClient((opened) => {
  client = opened;
});

test('every column with a file’s hash is known, or explicitly excluded', async () => {
  const { rows } = await client.query<{ at: string }>(
    `select table_name || '.' || column_name as at from information_schema.columns
     where table_schema = 'public' and column_name like '%sha256%' order by 1`,
  );
  const others = {
    'asset.sha256': 'of a file in a repository',
    'flag.sha256': 'of a file of a version, which names it too',
    'purge_blob.sha256': 'of a file that a deletion may have removed',
  };
  const named = blobColumns.filter(({ property }) => !property).map(({ table, column }) => `${table}.${column}`);
  expect(rows.map(({ at }) => at)).toEqual([...named, ...Object.keys(others)].sort());
});

test('every column with a commit is checked in the repositories', async () => {
  const { rows } = await client.query<{ at: string }>(
    `select table_name || '.' || column_name as at from information_schema.columns
     where table_schema = 'public' and column_name like '%commit%' order by 1`,
  );
  // A push that was ended may never have moved its branch.
  const planned = ['accepted_push.from_commit', 'accepted_push.to_commit'];
  const checked = commitColumns.map((column) => `deployment.${column}`);
  expect(rows.map(({ at }) => at)).toEqual([...planned, ...checked].sort());
});

test('tables excluded from a backup may be lost or are rebuilt by a restore', async () => {
  const kept = (await tablesOf(client)).map(({ name }) => name);
  const { rows: all } = await client.query<{ name: string; kind: string }>(
    `select relname as name, relpersistence as kind from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'm', 'S')`,
  );
  const left = all.filter(({ name }) => !kept.includes(name) && !name.startsWith('mikro_orm_'));
  expect(left.filter(({ kind }) => kind !== 'u')).toEqual([]);
  const { rows: marks } = await client.query(
    `select attrelid::regclass::text as table from pg_attribute a left join pg_attrdef d on d.adrelid = attrelid and d.adnum = attnum
     join pg_class c on c.oid = attrelid and c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
     where atttypid = 'xid8'::regtype and coalesce(pg_get_expr(adbin, adrelid), '') <> 'pg_current_xact_id()'`,
  );
  expect(marks).toEqual([]);
});

test('every kind of workflow is restarted from its rows', () => {
  const kinds = Object.keys(workflowIds).filter((name) => name !== 'schedule');
  expect(Object.keys(workflowRegistry).sort()).toEqual(kinds.sort());
});
