/** What the database role of builds workers may do, table by table. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { buildsGrants, grantBuildsRole } from '#db/builds-role.ts';
import type { TestDatabase } from '#test/stack/database.ts';
import { useDatabaseClient } from '#test/stack/database-client.ts';
import { adminUrlOf, createBuildsRole, dropRole, newRoleName, query, urlFor } from './roles.ts';

/** Tables that no build needs, by what is in them. */
const refused = {
  'secrets, as hashes or encrypted':
    'access_request account_deletion_code acme_account acme_token browser_session certificate email_change address_link git_credential ' +
    'idempotency_key oauth_code oauth_grant oauth_refresh payout_account payout_onboarding refused_call review_link scope_allowance signin_link ' +
    'ticket_key token upload_link used_challenge visitor_salt',
  'people and their addresses':
    'account booking collaborator comment_message comment_thread feedback history_entry invitation mail prepared_mail submission',
  money:
    'billing_customer billing_event ledger_flag payment payment_attempt payment_event payment_refund payout_agreement payout_offer',
  'a site, besides its versions':
    'asset bookable calendar calendar_feed domain domain_record domain_tombstone flag form former_name photo photo_search',
  'counters and limits': 'files_of_day library_request rate_limit view_hour view_total',
  'work of other processes': 'accepted_push held_file inbox_done mikro_orm_migrations purge_blob upload_file',
};

/** Columns that builds read, of the tables that are granted. */
const readable = {
  billing_subscription: 'account_id plan serves_until status',
  build_log: 'deployment_id seq',
  capacity: 'name sandbox seen_at slots',
  deployment:
    'content_commit created_at created_by_id created_via created_via_name error expected_heads file_count files_listed finished_at id ' +
    'image kind live_at live_spans manifest_sha256 no_cache number published_output scanned_at scanned_whole site_id site_url slot source_commit source_digest ' +
    'started_at status superseded_by_id ticket total_bytes turn_at upload_ends_at warnings',
  outbox: 'attempts id',
  plan_grant: 'account_id ended_at ends_at plan',
  rendering:
    'asked awaited created_at deployment_id error finished_at form id kind result site_id sketch_id status work',
  preview: 'deployment_id expires_at id latest_id removed_at site_id slot',
  sketch: 'account_id id status',
  sketch_host: 'position sha256 sketch_id',
  site:
    'account_id archived_at block_reason blocked_at cache_epoch changed_xid colors created_at delete_at deleted_with_account id last_number last_ticket ' +
    'live_deployment_id live_ticket name owner_blocked_at public_id purged_at redirects_sha256 status template title',
};

const refusedTables = Object.values(refused).flatMap((names) => names.split(' '));
const [insufficientPrivilege, unknown] = ['42501', '42703'];

let database: TestDatabase;
let owner: pg.Client;
useDatabaseClient((opened, its) => {
  owner = opened;
  database = its;
});

const codeOf = (attempt: Promise<unknown>) =>
  attempt.then(
    () => 'done',
    ({ code }: { code: string }) => code,
  );

describe('the role of builds', () => {
  let role: Awaited<ReturnType<typeof createBuildsRole>>;
  let builds: pg.Client;
  beforeAll(async () => {
    role = await createBuildsRole(database.url);
    builds = new pg.Client({ connectionString: role.url });
    await builds.connect();
  });
  afterAll(async () => {
    await builds?.end();
    await role?.drop();
  });
  async function as(text: string): Promise<string> {
    const code = await codeOf(builds.query(text));
    await builds.query('rollback');
    return code;
  }

  test('every table is granted to builds or refused', async () => {
    const { rows } = await owner.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm') order by 1`,
    );
    expect([...refusedTables, ...Object.keys(buildsGrants)].sort()).toEqual(rows.map(({ name }) => name).sort());
  });

  test('builds read exactly the listed columns', async () => {
    const rows = await query<{ table: string; columns: string }>(
      role.url,
      `select relname as table, string_agg(attname, ' ' order by attname) as columns from pg_class join pg_attribute on attrelid = pg_class.oid
       where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm') and attnum > 0 and not attisdropped
         and has_column_privilege(pg_class.oid, attnum, 'select') group by relname`,
    );
    expect(Object.fromEntries(rows.map(({ table, columns }) => [table, columns]))).toEqual(readable);
  });

  test.each(refusedTables)('builds neither read nor change the table %s', async (table) => {
    const { fields } = await owner.query(`select * from ${table} limit 0`);
    const column = fields[0]?.name;
    const attempts = [
      `select count(*) from ${table}`,
      `select ${column} from ${table}`,
      `insert into ${table} default values`,
      `update ${table} set ${column} = default`,
      `delete from ${table}`,
      `truncate ${table}`,
      `begin; lock table ${table} in access share mode`,
      `copy ${table} to stdout`,
    ];
    for (const text of attempts) expect([text, await as(text)]).toEqual([text, insufficientPrivilege]);
  });

  test.each([
    ['the address of a preview', 'select label from preview'],
    ['the log of another build', 'select text from build_log'],
    ['a message to a workflow', 'select message from outbox'],
    ['a subscription at the provider', 'select * from billing_subscription'],
    ['the owner of a site', 'update site set account_id = account_id'],
    ['the name of a site', 'update site set name = name'],
    ['the block of a site', 'update site set blocked_at = null'],
    ['the source of a version', 'update deployment set source_commit = source_commit'],
    ['the removal of a version', 'delete from deployment'],
    ['a message that was not sent', 'delete from outbox'],
    ['a plan', `update plan_grant set plan = 'studio'`],
    ['a new version', 'insert into deployment default values'],
    ['a new site', 'insert into site default values'],
    ['a table', 'create table mine (id text)'],
    ['a function', `create function mine() returns text language sql as 'select 1::text'`],
    ['the secret of a role', 'select rolpassword from pg_authid'],
    ['a file of the server', `select pg_read_file('postgresql.conf')`],
    ['a program on the server', `copy (select 1) to program 'true'`],
    ['another role', 'set role frontage'],
  ])('builds cannot touch %s', async (_what, text) => {
    expect(await as(text)).toBe(insufficientPrivilege);
  });

  test('all columns of a grant exist', async () => {
    for (const [table, { select, insert, update }] of Object.entries(buildsGrants))
      for (const columns of [select, insert, update])
        if (columns && columns !== 'all')
          expect([table, await codeOf(owner.query(`select ${columns.join(', ')} from ${table} limit 0`))]).not.toEqual([
            table,
            unknown,
          ]);
  });

  test('a later migration takes rights that the release no longer gives', async () => {
    await query(adminUrlOf(database.url), `grant select, update (hash) on token to ${new URL(role.url).username}`);
    expect(await as('select count(*) from token')).toBe('done');
    await grantBuildsRole(adminUrlOf(database.url), role.url);
    expect(await as('select count(*) from token')).toBe(insufficientPrivilege);
    expect(await as('select count(*) from deployment')).toBe('done');
  });
});

describe('to make the role', () => {
  const newRole = (password?: string) => {
    const name = newRoleName();
    onTestFinished(() => dropRole(database.url, name));
    return { name, url: urlFor(database.url, name, password) };
  };
  const admin = (text: string) => query(adminUrlOf(database.url), text);
  const readsVersions = (url: string) => codeOf(query(url, 'select count(*) from deployment'));

  test('an owner that is no superuser needs a role that exists', async () => {
    const { name, url } = newRole();
    const refusal = `the role ${name} does not exist, and the role of DATABASE_URL may not change roles. As a superuser, run: create role "${name}"`;
    await expect(grantBuildsRole(database.url, url)).rejects.toThrow(refusal);
    await admin(`create role ${name} login password 'a-password'`);
    expect(await grantBuildsRole(database.url, url)).toBe(name);
    expect(await readsVersions(url)).toBe('done');
  });

  test('a changed password is set where that is allowed, and otherwise said', async () => {
    const { name, url } = newRole(`it's "quoted" \\ %41@/:`);
    await grantBuildsRole(adminUrlOf(database.url), url);
    expect(await readsVersions(url)).toBe('done');
    const changed = urlFor(database.url, name, 'another');
    await expect(grantBuildsRole(database.url, changed)).rejects.toThrow('cannot sign in with this password');
    await grantBuildsRole(adminUrlOf(database.url), changed);
    expect([await readsVersions(url), await readsVersions(changed)]).toEqual(['28P01', 'done']);
  });

  test('a role that could do more is refused and gets nothing', async () => {
    const superuser = newRole();
    await admin(`create role ${superuser.name} superuser login password 'a-password'`);
    await expect(grantBuildsRole(adminUrlOf(database.url), superuser.url)).rejects.toThrow(
      'also has rights on accepted_push, ',
    );
    const reader = newRole();
    await admin(`create role ${reader.name} login password 'a-password' in role pg_read_all_data`);
    await expect(grantBuildsRole(database.url, reader.url)).rejects.toThrow('is a member of no other role');
    await admin(`revoke pg_read_all_data from ${reader.name}`);
    expect(await readsVersions(reader.url)).toBe(insufficientPrivilege);
    await expect(grantBuildsRole(database.url, database.url)).rejects.toThrow('is the role of DATABASE_URL');
  });

  test('several processes migrate at once', async () => {
    const { url } = newRole();
    await grantBuildsRole(adminUrlOf(database.url), url);
    await Promise.all(Array.from({ length: 4 }, () => grantBuildsRole(database.url, url)));
    expect(await readsVersions(url)).toBe('done');
  });
});
