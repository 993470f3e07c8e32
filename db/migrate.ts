/** Brings a database to the newest schema. Safe to run from several processes at once, and beside a release that answers visitors. */
import { setTimeout as pause } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import { openOrm } from './orm.ts';

// Any constant will do: all that migrate this database must take the same one.
const migrationLock = 4_711_001;

/** Who waits for a table makes all wait who come after: so a migration gives up soon, leaves nothing, and comes back. */
const lockTimeoutMs = 3_000;
const pauseMs = 1_000;
const lockNotAvailable = '55P03';

/**
 * Runs the migrations that this database has not had, each in a transaction of its own; with `to`, those up to that one. Answers their
 * names. Waits as long as somebody holds a table that one of them needs, a backup for instance.
 */
export async function migrate(databaseUrl: string, options: { to?: string } = {}): Promise<string[]> {
  const guard = new pg.Client({ connectionString: databaseUrl });
  await guard.connect();
  const orm = openOrm(databaseUrl, { poolMax: 2, lockTimeoutMs });
  try {
    await guard.query('select pg_advisory_lock($1)', [migrationLock]);
    const ran: string[] = [];
    while (!(await runUp(orm, options, ran))) await pause(pauseMs);
    return ran;
  } finally {
    await orm.close();
    await guard.end();
  }
}

/** Adds to `ran` what ran; false where somebody else held a table for too long. */
async function runUp(orm: MikroORM, options: { to?: string }, ran: string[]): Promise<boolean> {
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

/** Names of all migrations that this version has, in order. */
export function knownMigrations(databaseUrl: string): string[] {
  const listed = openOrm(databaseUrl).config.get('migrations').migrationsList ?? [];
  return listed.map((one) => ('name' in one ? String(one.name) : ''));
}
