/** The table of sites on the edge's disk. */
import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Logger } from 'pino';
import type { SiteChanges, SiteRow } from './database.ts';

/** Up to where the file has the database's changes: none before it is missing. */
export type Position = Pick<SiteChanges, 'mark' | 'server'>;

export const hostKinds = ['name', 'former', 'label', 'domain'] as const;
export type HostKind = (typeof hostKinds)[number];

export type SitesFile = ReturnType<typeof openSqlite>;

const format = 1;
const schema = `
  create table site (id text primary key, row text not null) strict, without rowid;
  create table host (kind text, name text, site_id text not null, primary key (kind, name)) strict, without rowid;
  create index host_site on host (site_id);
  create table position (only integer primary key check (only = 1), mark text not null, server text not null) strict;
  pragma user_version = ${format}`;

const waitMs = 5_000;
const waitAgainMs = 20;
const idsAtOnce = 2_000;
/** Result codes of SQLite. */
const busy = 5;
const damaged = new Set([11, 26]);

/** Opens the file, and makes it if it is missing, of another format or damaged. Without a usable disk the table is in memory. */
export function openSitesFile(file: string, log: Logger): SitesFile {
  try {
    mkdirSync(dirname(file), { recursive: true });
    try {
      return openSqlite(file);
    } catch (err) {
      if (!damaged.has(codeOf(err)) && !(err instanceof UnknownFormat)) throw err;
      log.warn({ err }, 'the table of sites cannot be read, and is made again');
      removeSitesFile(file);
      return openSqlite(file);
    }
  } catch (err) {
    log.error({ err }, 'the table of sites is in memory, because its file cannot be opened');
    return openSqlite(':memory:');
  }
}

export function removeSitesFile(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
}

/** All hosts at which a site is found. */
export function hostsOf({ name, formerNames = [], previews = [], domains = [] }: SiteRow): [HostKind, string][] {
  return [
    ['name', name],
    ...formerNames.map((former): [HostKind, string] => ['former', former.name]),
    ...previews.map(({ label }): [HostKind, string] => ['label', label]),
    ...domains.map((domain): [HostKind, string] => ['domain', domain.name]),
  ];
}

class UnknownFormat extends Error {}

function openSqlite(file: string) {
  const sqlite = new DatabaseSync(file, { timeout: waitMs });
  try {
    // A crash of the machine may lose the last changes, together with the mark that promised them. Of a deleted site no byte stays.
    sqlite.exec('pragma synchronous = normal; pragma secure_delete = on');
    untilFree(() => sqlite.exec('pragma journal_mode = wal'));
    sqlite.exec('begin immediate');
    const { user_version: version } = sqlite.prepare('pragma user_version').get() as { user_version: number };
    if (version === 0) sqlite.exec(schema);
    else if (version !== format) throw new UnknownFormat(`the table of sites has the unknown format ${version}`);
    sqlite.exec('commit');
    return createStatements(sqlite);
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

/** SQLite itself does not wait for this, which processes do that start together. */
function untilFree(change: () => void): void {
  for (let waited = 0; ; waited += waitAgainMs) {
    try {
      change();
      return;
    } catch (error) {
      if (codeOf(error) !== busy || waited >= waitMs) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitAgainMs);
    }
  }
}

/** Without the extended part of the code; 0 for other errors. */
function codeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0;
}

function createStatements(sqlite: DatabaseSync) {
  const one = (sql: string) => sqlite.prepare(sql);
  const siteAt = one('select site_id from host where kind = ? and name = ?');
  const rowOf = one('select row from site where id = ?');
  const idsAfter = one(`select id from site where id > ? order by id limit ${idsAtOnce}`);
  const putSite = one('insert or replace into site values (?, ?)');
  const putHost = one('insert or replace into host values (?, ?, ?)');
  const removeSite = one('delete from site where id = ?');
  // A host that another site has by now is that site's.
  const removeHosts = one('delete from host where site_id = ?');
  const position = one('select mark, server from position');
  const move = one('insert or replace into position values (1, ?, ?)');
  const version = one('pragma data_version');

  return {
    siteAt: (kind: HostKind, name: string) => siteAt.get(kind, name)?.site_id as string | undefined,
    rowOf(id: string): SiteRow | undefined {
      const found = rowOf.get(id);
      return found && JSON.parse(found.row as string);
    },
    /** With all its hosts: an older row of the site that had one before may have taken it back. */
    has: (site: SiteRow) =>
      rowOf.get(site.id)?.row === JSON.stringify(site) &&
      hostsOf(site).every(([kind, name]) => siteAt.get(kind, name)?.site_id === site.id),
    idsAfter: (id: string) => idsAfter.all(id).map((row) => row.id as string),
    put(site: SiteRow): void {
      removeHosts.run(site.id);
      putSite.run(site.id, JSON.stringify(site));
      for (const [kind, name] of hostsOf(site)) putHost.run(kind, name, site.id);
    },
    remove(id: string): void {
      removeHosts.run(id);
      removeSite.run(id);
    },
    position: () => position.get() as Position | undefined,
    move: ({ mark, server }: Position) => void move.run(mark, server),
    /** Changes when another connection has written. */
    version: () => version.get()?.data_version,
    transaction(change: () => void): void {
      sqlite.exec('begin immediate');
      try {
        change();
        sqlite.exec('commit');
      } catch (error) {
        if (sqlite.isTransaction) sqlite.exec('rollback');
        throw error;
      }
    },
    /** Writes the log of changes into the file and empties it: it still has what was deleted. */
    emptyLog: () => sqlite.exec('pragma wal_checkpoint(truncate)'),
    close: () => sqlite.isOpen && sqlite.close(),
  };
}
