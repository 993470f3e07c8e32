/** A role for builds in the run's PostgreSQL, made as the migrate step of an installation makes it. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { grantBuildsRole } from '#db/builds-role.ts';

export const newRoleName = () => `builds_${randomBytes(6).toString('hex')}`;

/** The address of the database for another role. */
export function urlFor(databaseUrl: string, role: string, password = 'a-password'): string {
  const url = new URL(databaseUrl);
  url.username = role;
  url.password = password;
  return url.href;
}

/** The address of the database for the superuser. */
export function adminUrlOf(databaseUrl: string): string {
  const url = new URL(inject('services').adminUrl);
  url.pathname = new URL(databaseUrl).pathname;
  return url.href;
}

/** Runs one statement on the database, as the role of the address. */
export async function query<Row extends pg.QueryResultRow>(url: string, text: string, values: unknown[] = []) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}

/** Ends the role with its rights on the database; call it before the database is dropped. */
export async function dropRole(databaseUrl: string, role: string): Promise<void> {
  const admin = adminUrlOf(databaseUrl);
  const [found] = await query(admin, 'select 1 from pg_roles where rolname = $1', [role]);
  if (found) await query(admin, `drop owned by ${role}; drop role ${role}`);
}

/** `url` is what a builds worker gets. */
export async function createBuildsRole(databaseUrl: string): Promise<{ url: string; drop(): Promise<void> }> {
  const role = newRoleName();
  const url = urlFor(databaseUrl, role);
  await grantBuildsRole(adminUrlOf(databaseUrl), url);
  return { url, drop: () => dropRole(databaseUrl, role) };
}
