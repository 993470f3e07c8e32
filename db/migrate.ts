/** Brings a database to the newest schema. Safe to run from several processes at once. */
import pg from 'pg';
import { openOrm } from './orm.ts';

// Any constant will do: all that migrate this database must take the same one.
const migrationLock = 4_711_001;

/** Runs the migrations that this database has not had; with `to`, those up to that one. Answers their names. */
export async function migrate(databaseUrl: string, options: { to?: string } = {}): Promise<string[]> {
  const guard = new pg.Client({ connectionString: databaseUrl });
  await guard.connect();
  const orm = openOrm(databaseUrl, { poolMax: 2 });
  try {
    await guard.query('select pg_advisory_lock($1)', [migrationLock]);
    const ran = await orm.migrator.up(options);
    return ran.map((migration) => migration.name);
  } finally {
    await orm.close();
    await guard.end();
  }
}

/** Names of all migrations that this version has, in order. */
export function knownMigrations(databaseUrl: string): string[] {
  const listed = openOrm(databaseUrl).config.get('migrations').migrationsList ?? [];
  return listed.map((one) => ('name' in one ? String(one.name) : ''));
}
