/** A migrated PostgreSQL database for one test file: a copy of the run's template, made in about 15 ms. */
import { randomBytes } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';

export type TestDatabase = {
  url: string;
  /** Drops it, whoever is still connected. */
  drop(): Promise<void>;
};

export async function createTestDatabase(): Promise<TestDatabase> {
  const { templateUrl } = inject('services');
  const name = `test_${randomBytes(6).toString('hex')}`;
  // wal_log, the default strategy, takes twice as long.
  await asAdmin(`create database ${name} template frontage owner frontage strategy file_copy`);
  const url = new URL(templateUrl);
  url.pathname = name;
  return { url: url.href, drop: () => asAdmin(`drop database if exists ${name} with (force)`) };
}

async function asAdmin(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('services').adminUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Address of the run's Temporal server. Take a task queue or a namespace of your own in it. */
export function temporalAddress(): string {
  return inject('services').temporalAddress;
}

/** Where workers of this run keep the bundle of the workflows. */
export function bundleDir(): string {
  return inject('services').bundleDir;
}

/** A folder of a test file, whose name begins like this. Nothing in it is executable. */
export async function makeFolder(name: string): Promise<string> {
  return await mkdtemp(join(inject('services').filesDir, name));
}
