/**
 * The database role of workers that serve only builds. A build that escapes its sandbox can do what this role can: it has
 * rights on the rows and columns below and on no others. docs/operations.md says how a cluster gets the role.
 */
import type pg from 'pg';
import { withClient } from './client.ts';
import { migrationLock } from './migrate.ts';

type Columns = 'all' | readonly string[];
export type Grant = {
  /** What a build needs it for. */
  for: string;
  select?: Columns;
  insert?: Columns;
  update?: readonly string[];
  delete?: true;
};

/** By table. Every other table is refused. */
export const buildsGrants: Readonly<Record<string, Grant>> = {
  deployment: {
    for: 'what to build, its outcome, and which build is next',
    select: 'all',
    update: [
      'status',
      'image',
      'manifest_sha256',
      'file_count',
      'total_bytes',
      'published_output',
      'superseded_by_id',
      'turn_at',
      'finished_at',
      'live_at',
      'live_spans',
    ],
  },
  site: {
    for: 'the lock under which a version goes live',
    select: 'all',
    update: ['live_deployment_id', 'live_ticket'],
  },
  preview: {
    for: 'the draft of a slot; not its address',
    select: ['id', 'site_id', 'slot', 'latest_id', 'deployment_id', 'expires_at', 'removed_at'],
    insert: 'all',
    update: ['latest_id', 'deployment_id', 'expires_at', 'removed_at'],
  },
  build_log: {
    for: 'the log of its build; not the text of others',
    select: ['deployment_id', 'seq'],
    insert: 'all',
    update: ['text'],
    delete: true,
  },
  capacity: {
    for: 'its presence and its slots',
    select: 'all',
    insert: 'all',
    update: ['seen_at', 'sandbox', 'slots'],
    delete: true,
  },
  rendering: {
    for: 'which pages to show in a browser, and the outcome',
    select: 'all',
    update: ['status', 'result', 'error', 'finished_at'],
  },
  sketch: {
    for: 'whose sketch a browser shows; not its address',
    select: ['id', 'account_id', 'status'],
  },
  sketch_host: {
    for: 'the page of a direction',
    select: ['sketch_id', 'position', 'sha256'],
  },
  rendering_picture: {
    for: 'the pictures that it has drawn',
    insert: 'all',
  },
  outbox: {
    for: 'messages to workflows; not those of others',
    select: ['id', 'attempts'],
    insert: 'all',
  },
  inbox_news: {
    for: 'to wake calls that wait for the inbox, when the version of a collaborator goes live',
    insert: ['topic'],
  },
  billing_subscription: {
    for: 'the limits of the site: the paid plan',
    select: ['account_id', 'plan', 'status', 'serves_until'],
  },
  plan_grant: {
    for: 'the limits of the site: the granted plan',
    select: ['account_id', 'plan', 'ends_at', 'ended_at'],
  },
};

/**
 * Gives the role of `buildsUrl` exactly these rights on the migrated database, and creates the role if there is none.
 * Idempotent. Throws if the role could do more. Returns its name.
 */
export async function grantBuildsRole(databaseUrl: string, buildsUrl: string): Promise<string> {
  const { username, password } = new URL(buildsUrl);
  const role = decodeURIComponent(username);
  await withClient(databaseUrl, 'frontage migrate', async (client) => {
    await client.query('begin');
    // Concurrent grants on one table fail.
    await client.query('select pg_advisory_xact_lock($1)', [migrationLock]);
    await ensureRole(client, role, decodeURIComponent(password), buildsUrl);
    await grant(client, role);
    await requireNoMore(client, role);
    await client.query('commit');
  });
  return role;
}

/** Also sets the password, where the role cannot sign in with it. */
async function ensureRole(client: pg.Client, role: string, password: string, buildsUrl: string): Promise<void> {
  const { rows } = await client.query<{ exists: boolean; creates: boolean; same: boolean }>(
    `select exists (select from pg_roles where rolname = $1) as exists, current_user = $1 as same,
       (select rolcreaterole or rolsuper from pg_roles where rolname = current_user) as creates`,
    [role],
  );
  const [found] = rows;
  if (found?.same)
    throw new Error(
      `FRONTAGE_BUILDS_DATABASE_URL: ${role} is the role of DATABASE_URL. Builds need a role of their own.`,
    );
  if (found?.exists && (await canSignIn(buildsUrl))) return;
  const [name, secret] = [client.escapeIdentifier(role), client.escapeLiteral(password)];
  // The server's log has the text of a statement that fails.
  if (!found?.creates)
    throw new Error(
      `FRONTAGE_BUILDS_DATABASE_URL: the role ${role} ${found?.exists ? 'cannot sign in with this password' : 'does not exist'}, ` +
        `and the role of DATABASE_URL may not change roles. As a superuser, run: ${found?.exists ? 'alter' : 'create'} role ${name} login password '…'`,
    );
  await client.query(`${found.exists ? 'alter' : 'create'} role ${name} login password ${secret}`);
}

const canSignIn = (url: string) =>
  withClient(url, 'frontage migrate', (client) => client.query('select 1')).then(
    () => true,
    (error: { code?: string }) => {
      // Wrong password, or not allowed to sign in.
      if (error.code?.startsWith('28')) return false;
      throw error;
    },
  );

/** In one transaction: a running worker never lacks a right that it keeps. */
async function grant(client: pg.Client, role: string): Promise<void> {
  const name = client.escapeIdentifier(role);
  await client.query(`revoke all on all tables in schema public from ${name}`);
  await client.query(`grant usage on schema public to ${name}`);
  for (const [table, { select, insert, update, delete: deletes }] of Object.entries(buildsGrants)) {
    const rights = [
      ...Object.entries({ select, insert, update }).flatMap(([right, columns]) => rightOn(right, columns)),
      ...(deletes ? ['delete'] : []),
    ];
    await client.query(`grant ${rights.join(', ')} on ${client.escapeIdentifier(table)} to ${name}`);
  }
}

function rightOn(right: string, columns: Columns | undefined): string[] {
  if (!columns) return [];
  return [columns === 'all' ? right : `${right} (${columns.join(', ')})`];
}

/** A role may have rights from elsewhere: as a superuser, as a member of other roles, or as one of everybody. */
async function requireNoMore(client: pg.Client, role: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm') and relname <> all ($2)
       and (has_table_privilege($1, oid, 'select, insert, update, delete, truncate, references, trigger')
         or has_any_column_privilege($1, oid, 'select, insert, update, references'))
     order by relname`,
    [role, Object.keys(buildsGrants)],
  );
  if (rows.length === 0) return;
  const tables = rows.map(({ name }) => name).join(', ');
  throw new Error(
    `FRONTAGE_BUILDS_DATABASE_URL: the role ${role} also has rights on ${tables}. ` +
      'Use a role that is no superuser, owns nothing and is a member of no other role.',
  );
}
