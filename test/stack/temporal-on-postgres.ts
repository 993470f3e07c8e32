/** Temporal as in production: its own server, on a PostgreSQL of its own. The programs are those of the module `go.temporal.io/server`. */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '#tools/local/ports.ts';
import { startDaemon } from '#tools/local/processes.ts';
import { openRunRecords } from '#tools/local/run-records.ts';
import { startPostgres } from '#tools/local/services/postgres.ts';
import { searchAttributes, type Temporal, type TemporalOptions } from '#tools/local/services/temporal.ts';
import { findTemporal } from '#tools/local/services/temporal-cli.mjs';
import { until } from './until.ts';

const run = promisify(execFile);
const databases = { temporal: 'temporal', temporal_visibility: 'visibility' };

/** `bin`: folder of `server` and `sql`, as `go install go.temporal.io/server/cmd/server@… go.temporal.io/server/cmd/tools/sql@…` names them. */
export function temporalOnPostgres(bin: string): (options: TemporalOptions) => Promise<Temporal> {
  return async ({ dir, ports, logFile = join(dir, 'temporal.log'), log = () => {}, onSpawn }) => {
    await mkdir(join(dir, 'config'), { recursive: true, mode: 0o711 });
    const records = openRunRecords(join(dir, '../run'));
    const postgres = await startPostgres({
      dir: join(dir, 'postgres'),
      durable: false,
      onSpawn: (id) => records.add({ name: 'temporal-postgres', stopSignal: 'SIGINT', ...id }),
    });
    const at = new URL(postgres.adminUrl);
    await makeSchemas(join(bin, 'sql'), at);
    const port = ports?.server ?? (await freePort());
    const address = `127.0.0.1:${port}`;
    await writeFile(join(dir, 'config', 'development.yaml'), JSON.stringify(await settings(at, port)));
    const daemon = await startDaemon({
      command: join(bin, 'server'),
      args: ['--root', dir, '--config', 'config', '--env', 'development', 'start'],
      cwd: dir,
      logFile,
      stopSignal: 'SIGTERM',
      stopGraceMs: 10_000,
      onSpawn,
    });
    const ask = await asker(await findTemporal(log), address);
    await until(() => ask('operator', 'cluster', 'health'), Boolean, 60_000);
    await until(() => ask('operator', 'namespace', 'create', '--namespace', 'default', '--retention', '24h'), Boolean);
    const wanted = searchAttributes.flatMap((name) => ['--name', name, '--type', 'Keyword']);
    await until(() => ask('operator', 'search-attribute', 'create', ...wanted), Boolean, 60_000);
    const ending = (end: () => Promise<void>) => async () => {
      await end();
      await postgres.stop();
    };
    return { ...daemon, address, uiUrl: '', pid: daemon.id.pid, stop: ending(daemon.stop), kill: ending(daemon.kill) };
  };
}

/** Answers whether the command was done. */
async function asker(cli: string, address: string) {
  return async (...args: string[]) =>
    await run(cli, [...args, '--address', address, '--command-timeout', '5s']).then(
      () => true,
      () => false,
    );
}

async function makeSchemas(sql: string, { hostname, port, username, password }: URL): Promise<void> {
  const where = ['--plugin', 'postgres12', '--endpoint', hostname, '--port', port, '--user', username];
  for (const [database, schema] of Object.entries(databases)) {
    const tool = (...args: string[]) => run(sql, [...where, '--password', password, '--database', database, ...args]);
    await tool('create');
    await tool('setup-schema', '--version', '0.0');
    await tool('update-schema', '--schema-name', `postgresql/v12/${schema}`);
  }
}

/** YAML takes JSON. */
async function settings({ host, username: user, password }: URL, port: number) {
  const store = (databaseName: string) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: host,
      connectProtocol: 'tcp',
      user,
      password,
      maxConns: 20,
    },
  });
  const rpc = async (grpcPort: number) => ({
    rpc: { grpcPort, membershipPort: await freePort(), bindOnLocalHost: true },
  });
  const rpcAddress = `127.0.0.1:${port}`;
  return {
    log: { stdout: true, level: 'error' },
    persistence: {
      defaultStore: 'default',
      visibilityStore: 'visibility',
      numHistoryShards: 4,
      datastores: { default: store('temporal'), visibility: store('temporal_visibility') },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services: {
      frontend: await rpc(port),
      history: await rpc(await freePort()),
      matching: await rpc(await freePort()),
      worker: await rpc(await freePort()),
    },
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: { active: { enabled: true, initialFailoverVersion: 1, rpcName: 'frontend', rpcAddress } },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    publicClient: { hostPort: rpcAddress },
  };
}
