/** A PostgreSQL server in a folder: created at the first start, survives kills, leaves nothing running. */

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { readJson, writePrivate } from '#tools/local/data-folder.ts';
import { freePort } from '#tools/local/ports.ts';
import {
  commandLine,
  type Daemon,
  endProcess,
  identify,
  type ProcessId,
  type Running,
  startDaemon,
} from '#tools/local/processes.ts';
import { UserError } from '#tools/local/user-error.ts';
import { findPostgres, type PostgresBinaries, type PostgresUser, postgresUser } from './postgres-binaries.ts';

export type PostgresOptions = {
  /** Everything of this server: data, passwords, log. */
  dir: string;
  /** A free one by default. */
  port?: number;
  /** False trades safety against a power cut for speed; a killed process loses nothing either way. */
  durable: boolean;
  logFile?: string;
  log?: (line: string) => void;
  onSpawn?: (id: ProcessId) => void;
};

export type Postgres = Running & {
  /** For the role `frontage` and its database. */
  url: string;
  /** For the superuser and the database `postgres`. */
  adminUrl: string;
  pid: number;
};

type Passwords = { postgres: string; frontage: string };

/**
 * Starts the server of this folder and returns when it accepts queries. First stops a server that a kill left on the
 * same data.
 */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const dir = resolve(options.dir);
  await mkdir(dir, { recursive: true, mode: 0o711 });
  const binaries = await findPostgres();
  const user = await postgresUser(binaries, dir);
  const passwords = await ensurePasswords(dir);
  await stopLeftover(join(dir, 'data'));
  await initialise({ dir, binaries, user, passwords, durable: options.durable, log: options.log });
  const port = options.port ?? (await freePort());
  const daemon = await launch({ ...options, dir, port }, binaries, user, passwords);
  const url = (name: keyof Passwords) => `postgres://${name}:${passwords[name]}@127.0.0.1:${port}/${name}`;
  await createRole(url('postgres'), passwords.frontage);
  return { ...daemon, url: url('frontage'), adminUrl: url('postgres'), pid: daemon.id.pid };
}

async function ensurePasswords(dir: string): Promise<Passwords> {
  const file = join(dir, 'passwords.json');
  const known = readJson<Passwords>(file);
  if (known) return known;
  // Without the passwords, the data cannot be read.
  if (existsSync(join(dir, 'data')))
    throw new UserError(
      `${file} is missing or damaged. Restore it from a backup, or set FRONTAGE_DATA to a new folder.`,
    );
  const passwords = { postgres: randomBytes(24).toString('hex'), frontage: randomBytes(24).toString('hex') };
  writePrivate(file, JSON.stringify(passwords));
  return passwords;
}

/**
 * A killed parent leaves the server running. It is ours if our data folder contains its pid and its command line names
 * our data folder.
 */
async function stopLeftover(data: string): Promise<void> {
  const first = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number.parseInt(first, 10);
  const command = pid ? commandLine(pid) : '';
  if (!command.includes(`-D ${data}`)) {
    // After a reboot another process may have its pid, and the server would mistake that for a server.
    if (command) await rm(join(data, 'postmaster.pid'));
    return;
  }
  const id = identify(pid);
  if (id) await endProcess(id, 'SIGINT', 10_000);
}

type Initialisation = {
  dir: string;
  binaries: PostgresBinaries;
  user: PostgresUser;
  passwords: Passwords;
  durable: boolean;
  log: PostgresOptions['log'];
};

/** Creates the data in a temporary folder and renames it, so that a kill leaves nothing half made. */
async function initialise({ dir, binaries, user, passwords, durable, log }: Initialisation): Promise<void> {
  const data = join(dir, 'data');
  if (await readFile(join(data, 'PG_VERSION'), 'utf8').catch(() => undefined)) return;
  log?.('creating the database cluster');
  const draft = join(dir, 'data.new');
  const passwordFile = join(dir, 'initdb.password');
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  await writeFile(passwordFile, passwords.postgres, { mode: 0o600 });
  if (user.ids) for (const path of [draft, passwordFile]) await chown(path, user.ids.uid, user.ids.gid);
  // A test run opens 20,000 connections; hashing the password each time takes a tenth of its computing time.
  const auth = durable ? ['--auth=scram-sha-256'] : ['--auth=password', '-c', 'scram_iterations=1'];
  const flags = ['--username=postgres', ...auth, '--encoding=UTF8', '--no-sync', '--no-instructions'];
  // The builtin provider needs no system locale.
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const call = user.wrap(binaries.initdb, ['-D', draft, `--pwfile=${passwordFile}`, ...flags, ...locale]);
  try {
    await promisify(execFile)(call.command, call.args, { cwd: '/', ...call.user });
  } catch (cause) {
    const { stderr = '', message } = cause as Error & { stderr?: string };
    // What follows is that initdb removes what it has made.
    const reason = /^.*(?:FATAL|PANIC|error):.*$/m.exec(stderr)?.[0] ?? message;
    throw new UserError(`PostgreSQL could not create its data folder: ${reason}`, { cause });
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(draft, data);
}

// No socket in /tmp, where two servers would conflict; no shared memory outside the data folder, where a kill would
// leave it.
const isolated = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'dynamic_shared_memory_type=mmap'];
// Commits stay synchronous: otherwise a killed server loses acknowledged commits.
const unsafe = ['fsync=off', 'full_page_writes=off', 'max_connections=300'];

async function launch(
  options: PostgresOptions & { port: number },
  binaries: PostgresBinaries,
  user: PostgresUser,
  passwords: Passwords,
): Promise<Daemon> {
  const settings = [...isolated, ...(options.durable ? [] : unsafe)];
  const args = ['-D', join(options.dir, 'data'), '-p', String(options.port), ...settings.flatMap((one) => ['-c', one])];
  const call = user.wrap(binaries.postgres, args);
  const logFile = options.logFile ?? join(options.dir, 'postgres.log');
  const deadline = performance.now() + 30_000;
  for (;;) {
    const before = (await readLog(logFile)).length;
    const daemon = await startDaemon({
      ...call,
      cwd: '/',
      logFile,
      stopSignal: 'SIGINT',
      stopGraceMs: 10_000,
      onSpawn: options.onSpawn,
    });
    if (await acceptsQueries(daemon, options.port, passwords.postgres)) return daemon;
    const output = (await readLog(logFile)).slice(before);
    // Children of a killed server hold its shared memory for a moment longer.
    if (!/shared memory block|postmaster\.pid/.test(output) || performance.now() > deadline) {
      const reason = /FATAL: .*/.exec(output)?.[0] ?? lastLine(output);
      throw new UserError(`PostgreSQL did not start: ${reason} (log: ${logFile})`);
    }
    await sleep(100);
  }
}

/** Of PostgreSQL's error codes, "invalid_password". */
const wrongPassword = '28P01';

const readLog = (file: string) => readFile(file, 'utf8').catch(() => '');

/** Waits until the server accepts a query; false if it exited. Throws `UserError` where another server has the port. */
async function acceptsQueries(daemon: Daemon, port: number, password: string): Promise<boolean> {
  while (daemon.running()) {
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', password, database: 'postgres' });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query('select 1');
      return true;
    } catch (error) {
      if ((error as { code?: string }).code === wrongPassword) {
        await daemon.kill();
        throw new UserError(`PostgreSQL on port ${port} does not accept the passwords of this data folder.`);
      }
      await sleep(30);
    } finally {
      await client.end().catch(() => {});
    }
  }
  return false;
}

async function createRole(adminUrl: string, password: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  client.on('error', () => {});
  await client.connect();
  try {
    const { rows } = await client.query(`select 1 from pg_database where datname = 'frontage'`);
    if (rows.length > 0) return;
    const { rows: roles } = await client.query(`select 1 from pg_roles where rolname = 'frontage'`);
    if (roles.length === 0) await client.query(`create role frontage login password ${client.escapeLiteral(password)}`);
    await client.query('create database frontage owner frontage');
  } finally {
    await client.end();
  }
}

function lastLine(text = ''): string {
  return text.trim().split('\n').at(-1) ?? '';
}
