/**
 * What a release relies on, as lines of text: the schema, its migrations, and the workflows that may still be running.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { knownMigrations } from '#db/migrations.ts';

const histories = join(import.meta.dirname, '../../test/histories');
const migrations = join(import.meta.dirname, '../../db/migrations');

const hashOf = (dir: string, name: string) =>
  createHash('sha256')
    .update(readFileSync(join(dir, name)))
    .digest('hex')
    .slice(0, 16);

/** `migration 003 2026-11-22-inbox <hash of its file>`: the line changes with position, name or contents. */
const migrationLine = (name: string, index: number) =>
  `migration ${String(index + 1).padStart(3, '0')} ${name} ${hashOf(migrations, `${name}.ts`)}`;

/**
 * One line per row, such as `column site.name text required`. An insert must set `required` columns but not `free`
 * ones.
 */
const queries = [
  `select format('column %s.%s %s %s %s', t.relname, a.attname, replace(format_type(a.atttypid, a.atttypmod), ' ', '_'),
      case when a.attnotnull then 'filled' else 'nullable' end,
      case when a.attnotnull and not a.atthasdef and a.attidentity = '' then 'required' else 'free' end) as line
    from pg_attribute a join pg_class t on t.oid = a.attrelid
    where t.relnamespace = 'public'::regnamespace and t.relkind in ('r', 'p', 'v') and a.attnum > 0 and not a.attisdropped`,
  `select format('restraint %s %s', conrelid::regclass, pg_get_constraintdef(oid)) as line from pg_constraint
    where connamespace = 'public'::regnamespace and conrelid <> 0 and contype in ('c', 'f', 'u', 'p', 'x')`,
  `select format('restraint %s %s', i.indrelid::regclass, regexp_replace(pg_get_indexdef(i.indexrelid), 'INDEX \\S+ ', 'INDEX ')) as line
    from pg_index i join pg_class c on c.oid = i.indexrelid
    where c.relnamespace = 'public'::regnamespace and i.indisunique and not i.indisprimary`,
  `select format('restraint %s %s as %s', g.tgrelid::regclass, pg_get_triggerdef(g.oid), md5(p.prosrc)) as line
    from pg_trigger g join pg_proc p on p.oid = g.tgfoid join pg_class c on c.oid = g.tgrelid
    where c.relnamespace = 'public'::regnamespace and not g.tgisinternal`,
  `select format('function %s(%s)', proname, pg_get_function_identity_arguments(oid)) as line from pg_proc
    where pronamespace = 'public'::regnamespace`,
];

let filesOfThis: string[] | undefined;

/** Describes a migrated database and this checkout, in sorted, distinct lines. */
export async function describeRelease(databaseUrl: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    filesOfThis ??= [
      ...readdirSync(histories).map((name) => `history ${name} ${hashOf(histories, name)}`),
      ...knownMigrations.map(migrationLine),
    ];
    const lines = [...filesOfThis];
    for (const query of queries) lines.push(...(await client.query<{ line: string }>(query)).rows.map(flat));
    return [...new Set(lines.filter((line) => !line.includes('mikro_orm_migrations')))].sort();
  } finally {
    await client.end();
  }
}

const flat = ({ line }: { line: string }) => line.replace(/\s+/g, ' ');
