/**
 * Rows in the text format of PostgreSQL's COPY, read in one snapshot and loaded in one transaction. The schema comes
 * from the migrations. Unlogged tables are excluded because they may be lost at any time, and columns of transaction
 * ids because they are meaningful only in one cluster.
 */
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import type { Store } from '#providers/store/store.ts';
import { damaged } from './fault.ts';
import { putGzipped, readLines, readPart, type TablePart } from './manifest.ts';

export type Table = { name: string; columns: string[] };

export async function tablesOf(client: pg.ClientBase): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
       and a.atttypid <> 'xid8'::regtype
     where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relpersistence = 'p'
       and c.relname <> 'mikro_orm_migrations'
     group by c.relname order by c.relname`,
  );
  return rows;
}

/** Reads the table in the snapshot of the client's transaction. */
export async function dumpTable(client: pg.ClientBase, store: Store, { name, columns }: Table): Promise<TablePart> {
  const rows = client.query(copyTo(`copy ${quoted(name)} (${columns.map(quoted)}) to stdout`));
  const part = await putGzipped(store, rows as Readable);
  return { name, columns, rows: rows.rowCount, ...part };
}

/** Fills the empty tables in the client's transaction. Triggers do not fire; foreign keys are validated at the end. */
export async function loadTables(client: pg.ClientBase, store: Store, tables: readonly TablePart[]): Promise<void> {
  const { rows: references } = await client.query<{ table: string; name: string; definition: string }>(
    `select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
     where contype = 'f' and connamespace = 'public'::regnamespace`,
  );
  for (const { table, name } of references) await client.query(`alter table ${table} drop constraint ${quoted(name)}`);
  for (const table of tables) {
    const name = quoted(table.name);
    await client.query(`alter table ${name} disable trigger user`);
    const rows = client.query(copyFrom(`copy ${name} (${table.columns.map(quoted)}) from stdin`));
    await pipeline(readPart(store, table), createGunzip(), rows as Writable);
    if (rows.rowCount !== table.rows) throw damaged(`some rows of the table ${table.name} are missing`);
    await client.query(`alter table ${name} enable trigger user`);
  }
  for (const { table, name, definition } of references)
    await client.query(`alter table ${table} add constraint ${quoted(name)} ${definition}`);
}

/** The values of these columns, row by row. */
export async function* rowsOf(store: Store, table: TablePart, columns: string[]): AsyncGenerator<(string | null)[]> {
  const places = columns.map((column) => table.columns.indexOf(column));
  for await (const line of readLines(store, table)) {
    const fields = line.split('\t');
    yield places.map((place) => plain(fields[place]));
  }
}

const escapes: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

function plain(field: string | undefined): string | null {
  if (field === undefined || field === '\\N') return null;
  return field.replace(/\\(.)/g, (_, letter: string) => escapes[letter] ?? letter);
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
