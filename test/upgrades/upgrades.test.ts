/** A migration works with the previous release, whose processes run until they are replaced. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type pg from 'pg';
import { expect, test } from 'vitest';
import { IncompatibleDatabase, migrate } from '#db/migrate.ts';
import { knownMigrations } from '#db/migrations.ts';
import type { TestDatabase } from '#test/stack/database.ts';
import { useDatabaseClient } from '#test/stack/database-client.ts';
import { describeRelease } from '#tools/scripts/schema-record.ts';
import { reviewed } from './reviewed.ts';
import { faultsBetween } from './rules.ts';

const folder = join(import.meta.dirname, 'releases');
const versions = readdirSync(folder)
  .map((name) => name.replace(/\.txt$/, ''))
  .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
const release = (version: string) =>
  readFileSync(join(folder, `${version}.txt`), 'utf8')
    .trimEnd()
    .split('\n');

let database: TestDatabase;
let client: pg.Client;
useDatabaseClient((opened, its) => {
  client = opened;
  database = its;
});

test('from each release to the next, everything that the earlier relies on stays', async () => {
  const states = [...versions.map(release), await describeRelease(database.url)];
  const faults = states.slice(1).flatMap((state, n) => faultsBetween(states[n] ?? [], state));
  expect(faults.filter((fault) => !(fault in reviewed))).toEqual([]);
  expect(Object.keys(reviewed).filter((fault) => !faults.includes(fault))).toEqual([]);
});

test('a release’s record names its tables, functions, histories and migrations', () => {
  expect(versions).toContain('0.1.0');
  for (const version of versions) {
    const lines = release(version).join('\n');
    for (const part of [
      'column site.name text filled',
      'restraint deployment ',
      'function ',
      'history publish-live.',
      'migration 001 2026-11-22-accounts ',
    ])
      expect(lines).toContain(part);
  }
});

/** For each statement what it does to the release before, where it is all that a migration does. */
async function faultsOf(statements: string[]): Promise<Map<string, string[]>> {
  const faults = new Map<string, string[]>();
  let before = await describeRelease(database.url);
  for (const statement of statements) {
    await client.query(statement);
    const after = await describeRelease(database.url);
    faults.set(statement, faultsBetween(before, after));
    before = after;
  }
  return faults;
}

test('removals and new demands on the previous release are reported', async () => {
  await client.query(`
    create table old (id text primary key, name text not null, size integer not null default 0, note text, kind text check (kind in ('a', 'b')));
    create function old_one(text) returns text language sql as 'select $1'`);
  const breaking = {
    'alter table old rename column name to title': ['old.name is gone', 'old.title is new and has to be given'],
    'alter table old alter size type bigint': ['old.size is bigint and was integer'],
    'alter table old alter note set not null': ['old.note can be null no more', 'old.note has to be given'],
    'alter table old alter size drop default': ['old.size has to be given'],
    'alter table old alter size drop not null': ['old.size may be null'],
    'alter table old add owner text not null': ['old.owner is new and has to be given'],
    'alter table old add check (size < 9)': ['new restraint old CHECK'],
    'create unique index on old (kind)': ['new restraint old CREATE UNIQUE'],
    'create trigger t before insert on old for each row execute function tell_inbox()': [
      'new restraint old CREATE TRIGGER',
    ],
    'drop function old_one(text)': ['function old_one'],
    'drop table old': [
      'old.id is gone',
      'old.size is gone',
      'old.note is gone',
      'old.kind is gone',
      'old.title is gone',
    ],
  };
  await client.query(`create function tell_inbox() returns trigger language plpgsql as 'begin return new; end'`);
  const faults = await faultsOf(Object.keys(breaking));
  for (const [statement, told] of Object.entries(breaking))
    for (const part of told)
      expect([statement, faults.get(statement)]).toEqual([
        statement,
        expect.arrayContaining([expect.stringContaining(part)]),
      ]);
});

test('additions, and removals of unused parts, are no faults', async () => {
  await client.query(`create table kept (id text primary key, kind text, constraint kinds check (kind in ('a', 'b')))`);
  const adding = await faultsOf([
    'alter table kept add note text',
    'alter table kept add size integer not null default 0',
    'alter table kept add made bigint generated always as identity',
    'create table added (id text primary key, kept_id text not null references kept)',
    'create index on kept (note)',
    'alter table kept drop constraint kinds',
  ]);
  for (const [statement, faults] of adding) expect([statement, faults]).toEqual([statement, []]);
  const before = [...(await describeRelease(database.url)), 'unused kept.note'];
  await client.query('alter table kept drop column note');
  expect(faultsBetween(before, await describeRelease(database.url))).toEqual([]);
});

test('a release’s recorded history is neither removed nor recorded again', () => {
  const before = ['history a.binpb 1234', 'history b.binpb 5678'];
  expect(faultsBetween(before, ['history a.binpb 9999'])).toEqual([
    'history a.binpb 1234 is gone or another',
    'history b.binpb 5678 is gone or another',
  ]);
});

test('a released migration is neither edited, renamed nor moved', () => {
  const before = ['migration 001 first aaaa', 'migration 002 second bbbb'];
  const faultsOfList = (...after: string[]) => faultsBetween(before, after);
  expect(faultsOfList(...before, 'migration 003 third cccc')).toEqual([]);
  expect(faultsOfList('migration 001 first aaaa', 'migration 002 second ffff')).toEqual([
    'migration 002 second bbbb is gone or another',
  ]);
  expect(faultsOfList('migration 001 earlier dddd', 'migration 002 first aaaa', 'migration 003 second bbbb')).toEqual([
    'migration 001 first aaaa is gone or another',
    'migration 002 second bbbb is gone or another',
  ]);
});

test('every migration file is in the list', () => {
  const files = readdirSync(join(import.meta.dirname, '../../db/migrations')).map((name) => name.replace(/\.ts$/, ''));
  expect([...knownMigrations].sort()).toEqual(files.sort());
});

test('a release’s record is not overwritten by mistake', async () => {
  const script = join(import.meta.dirname, '../../tools/scripts/record-release.ts');
  const ran = promisify(execFile)(process.execPath, [script]);
  await expect(ran).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/releases\/.*\.txt already exists/),
  });
});

test('the previous release leaves a newer database unchanged, so a downgrade is possible', async () => {
  await client.query(
    `insert into mikro_orm_migrations (name, executed_at) values ('2999-01-01-of-the-next-release', now())`,
  );
  const before = await describeRelease(database.url);
  expect(await migrate(database.url)).toEqual([]);
  expect(await describeRelease(database.url)).toEqual(before);
});

test('a database with the migrations from before 0.1.0 is refused and left unchanged', async () => {
  await client.query(`truncate mikro_orm_migrations;
    insert into mikro_orm_migrations (name, executed_at) values ('2026-11-21-initial', now()), ('2026-11-21-mail', now())`);
  const before = await describeRelease(database.url);
  const refused = migrate(database.url);
  await expect(refused).rejects.toBeInstanceOf(IncompatibleDatabase);
  await expect(refused).rejects.toThrow('With the older version, export each site with `frontage-admin site export');
  expect(await describeRelease(database.url)).toEqual(before);
  const { rows } = await client.query('select name from mikro_orm_migrations order by id');
  expect(rows.map(({ name }) => name)).toEqual(['2026-11-21-initial', '2026-11-21-mail']);
});
