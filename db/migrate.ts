/**
 * Migrates a database to the newest schema. Safe to run from several processes at once, and while the previous release
 * serves visitors.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import { knownMigrations, loadMigrations } from './migrations.ts';

/** The value is arbitrary; every process that migrates a database takes this lock. */
export const migrationLock = 4_711_001;

/**
 * While a migration waits for a table lock, every later query on the table queues behind it. A migration therefore
 * stops waiting early, rolls back and retries.
 */
const lockTimeoutMs = 3_000;
const pauseMs = 1_000;
const lockNotAvailable = '55P03';

/** The database was migrated by a version that is not an ancestor of this one. */
export class IncompatibleDatabase extends Error {
  constructor() {
    super(
      'This database was created by an older version of Frontage whose migrations this version does not contain. With the older version, ' +
        'export each site with `frontage-admin site export --site site_… --into site.tar`, then import it with this version ' +
        'into a new database with `frontage-admin site import --from site.tar --account acct_…`.',
    );
    this.name = 'IncompatibleDatabase';
  }
}

/**
 * Runs the pending migrations, each in its own transaction; with `to`, only those up to that one. Returns their names.
 * Waits as long as another session, such as a backup, locks a table that a migration needs. Throws IncompatibleDatabase
 * without changing anything.
 */
export async function migrate(databaseUrl: string, options: { to?: string } = {}): Promise<string[]> {
  const guard = new pg.Client({ connectionString: databaseUrl });
  // Where the server stops meanwhile, the migrations fail; without a listener, the process would end.
  guard.on('error', () => {});
  await guard.connect();
  try {
    await guard.query('select pg_advisory_lock($1)', [migrationLock]);
    const applied = await appliedMigrations(guard);
    requireCompatible(applied);
    // Loading the ORM takes longer than the rest of a start without migrations.
    return applied.length < knownMigrations.length ? await runAll(databaseUrl, options) : [];
  } finally {
    await guard.end();
  }
}

async function runAll(databaseUrl: string, options: { to?: string }): Promise<string[]> {
  const [{ openOrm }, { Migrator }] = await Promise.all([import('./orm.ts'), import('@mikro-orm/migrations')]);
  const migrations = {
    migrationsList: await loadMigrations(),
    snapshot: false,
    transactional: true,
    // One transaction per migration, so that none holds its table locks during the following ones.
    allOrNothing: false,
  };
  const orm = openOrm(databaseUrl, { poolMax: 2, lockTimeoutMs }, { extensions: [Migrator], migrations });
  try {
    const ran: string[] = [];
    while (!(await runPending(orm, options, ran))) await pause(pauseMs);
    return ran;
  } finally {
    await orm.close();
  }
}

/** Names of the applied migrations, in order; empty for a new database. */
export async function appliedMigrations(client: pg.ClientBase): Promise<string[]> {
  const table = await client.query(`select to_regclass('public.mikro_orm_migrations') is not null as exists`);
  if (!table.rows[0]?.exists) return [];
  const { rows } = await client.query<{ name: string }>('select name from mikro_orm_migrations order by id');
  return rows.map(({ name }) => name);
}

/** A newer release has appended migrations: that is compatible, because migrations only add. */
function requireCompatible(applied: string[]): void {
  if (applied.some((name, index) => index < knownMigrations.length && name !== knownMigrations[index]))
    throw new IncompatibleDatabase();
}

/**
 * Adds the names of the migrations that ran to `ran`. Returns false where another session locked a table for too long.
 */
async function runPending(orm: MikroORM, options: { to?: string }, ran: string[]): Promise<boolean> {
  const pending = await orm.migrator.getPending();
  try {
    await orm.migrator.up(options);
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== lockNotAvailable) throw error;
    return false;
  } finally {
    const left = new Set((await orm.migrator.getPending()).map(({ name }) => name));
    ran.push(...pending.map(({ name }) => name).filter((name) => !left.has(name)));
  }
}
