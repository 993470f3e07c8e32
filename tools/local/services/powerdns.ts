/** PowerDNS, if it is installed: the name server of the zones that we host, with its HTTP API. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '#tools/local/ports.ts';
import { type ProcessId, type Running, startDaemon } from '#tools/local/processes.ts';
import { UserError } from '#tools/local/user-error.ts';
import { executableAt } from './temporal-cli.mjs';

/** Where packages have the schema of its database: Debian, Fedora, Alpine, Arch, openSUSE, Homebrew. */
const schemas = [
  ...['/usr/share/pdns-backend-sqlite3/schema', '/usr/share/doc/pdns-backend-sqlite', '/usr/share/doc/pdns'],
  ...['/usr/share/doc/powerdns', '/usr/share/doc/packages/pdns', '/opt/homebrew/share/doc/pdns'],
  ...['/usr/local/share/doc/pdns', '/usr/share/doc/pdns-backend-sqlite3'],
].map((folder) => join(folder, 'schema.sqlite3.sql'));

/** The program and the schema of its database, if both are installed. */
export function findPowerDns(): { command: string; schema: string } | { missing: 'powerdns' } {
  const command = executableAt('pdns_server', ['/usr/sbin', '/usr/local/sbin']);
  const schema = schemas.find(existsSync);
  return command && schema ? { command, schema } : { missing: 'powerdns' };
}

export type PowerDnsOptions = {
  /** Where its zones are stored. */
  dir: string;
  key: string;
  /** Free ones by default. */
  ports?: { dns?: number; api?: number };
  /** The name server that its SOA records contain. */
  nameServer?: string;
  logFile?: string;
  onSpawn?: (id: ProcessId) => void;
};

/** `address` (`host:port`) is its DNS address, `url` its API. */
export type PowerDns = Running & { address: string; url: string; key: string };

/** Starts it and returns when its API responds. */
export async function startPowerDns(options: PowerDnsOptions): Promise<PowerDns> {
  const found = findPowerDns();
  if ('missing' in found) throw new UserError('PowerDNS, or its SQLite backend, is not installed.');
  const dir = resolve(options.dir);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const { dns = await freePort(), api = await freePort() } = options.ports ?? {};
  await makeDatabase(join(dir, 'zones.sqlite3'), found.schema);
  await writeFile(join(dir, 'pdns.conf'), settings({ ...options, dir, dns, api }), { mode: 0o600 });
  const logFile = options.logFile ?? join(dir, 'pdns.log');
  const daemon = await startDaemon({
    command: found.command,
    args: [`--config-dir=${dir}`],
    logFile,
    stopSignal: 'SIGTERM',
    stopGraceMs: 5_000,
    onSpawn: options.onSpawn,
  });
  const url = `http://127.0.0.1:${api}`;
  const isUp = () =>
    fetch(`${url}/api/v1/servers/localhost`, { headers: { 'x-api-key': options.key } }).then(({ ok }) => ok);
  await waitUntilUp(isUp, daemon, 'PowerDNS', logFile);
  return { ...daemon, address: `127.0.0.1:${dns}`, url, key: options.key };
}

/** Polls until the process is up; kills it after 15 s. Throws `UserError`. */
export async function waitUntilUp(
  isUp: () => Promise<boolean>,
  daemon: Running,
  name: string,
  logFile: string,
): Promise<void> {
  const deadline = performance.now() + 15_000;
  while (!(await isUp().catch(() => false))) {
    if (!daemon.running() || performance.now() > deadline) {
      await daemon.kill();
      const log = await readFile(logFile, 'utf8').catch(() => '');
      throw new UserError(`${name} did not start: ${log.trim().split('\n').at(-1) ?? ''} (log: ${logFile})`);
    }
    // Each poll takes a few milliseconds of CPU time, which the rest of the start needs.
    await sleep(50);
  }
}

async function makeDatabase(file: string, schema: string): Promise<void> {
  if (existsSync(file)) return;
  const database = new DatabaseSync(file);
  try {
    database.exec(await readFile(schema, 'utf8'));
  } finally {
    database.close();
  }
}

type Settings = { dir: string; key: string; dns: number; api: number; nameServer?: string };

/** All caches are off, so that changes are visible at once; no update check goes out. */
function settings({ dir, key, dns, api, nameServer = 'ns.invalid' }: Settings): string {
  const lines = {
    launch: 'gsqlite3',
    'gsqlite3-database': join(dir, 'zones.sqlite3'),
    'gsqlite3-pragma-synchronous': 0,
    'local-address': '127.0.0.1',
    'local-port': dns,
    'socket-dir': dir,
    api: 'yes',
    'api-key': key,
    webserver: 'yes',
    'webserver-address': '127.0.0.1',
    'webserver-port': api,
    'webserver-allow-from': '127.0.0.1',
    'webserver-loglevel': 'none',
    daemon: 'no',
    guardian: 'no',
    'security-poll-suffix': '',
    'cache-ttl': 0,
    'query-cache-ttl': 0,
    'negquery-cache-ttl': 0,
    'zone-cache-refresh-interval': 0,
    'default-soa-content': `${nameServer} hostmaster.@ 0 10800 3600 604800 300`,
    'receiver-threads': 1,
    'distributor-threads': 1,
    'retrieval-threads': 1,
  };
  return Object.entries(lines)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}
