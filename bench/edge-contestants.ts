/** The edge, nginx and Caddy, each serving the same files. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { systemClock } from '../clock.ts';
import { migrate } from '../db/migrate.ts';
import { freePort } from '../local/ports.ts';
import { startPostgres } from '../local/postgres.ts';
import { renderManifest } from '../providers/manifest.ts';
import { openDiskStore } from '../providers/store/disk.ts';

export const contestants = { edge: 'edge', nginx: 'nginx', caddy: 'Caddy' } as const;

export type Server = { name: string; url: string; host: string; pid: number };

const host = 'bench.sites.localhost';

/** Starts those that the machine has, on files of these sizes. */
export async function startContestants(dir: string, sizes: Record<string, number>) {
  const files = Object.fromEntries(
    Object.entries(sizes).map(([path, size]) => [
      path,
      Buffer.from(randomBytes(size).toString('base64').slice(0, size)),
    ]),
  );
  const www = join(dir, 'www');
  await mkdir(www);
  for (const [path, bytes] of Object.entries(files)) await writeFile(join(www, path), bytes);
  const postgres = await startPostgres({ dir: join(dir, 'postgres'), durable: false });
  const children: ChildProcess[] = [];
  const stop = async () => {
    await Promise.all(children.map(end));
    await postgres.stop();
  };
  try {
    await migrate(postgres.url);
    await publish(dir, postgres.url, files);
    const servers = [await startEdge(dir, postgres.url, children)];
    servers.push(await startNginx(dir, www, children), await startCaddy(dir, www, children));
    return { servers, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function publish(dir: string, databaseUrl: string, files: Record<string, Buffer>): Promise<void> {
  const store = openDiskStore(join(dir, 'store'));
  const lines = await Promise.all(
    Object.entries(files).map(async ([path, bytes]) => ({ path, ...(await store.put(bytes)), encodings: [] })),
  );
  const { sha256 } = await store.put(renderManifest(lines));
  const db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  const at = systemClock.now();
  await db.query(`insert into account (id, name, email, created_at) values ('a', 'a', 'a@example.test', $1)`, [at]);
  await db.query(
    `insert into site (id, account_id, name, title, template, status, public_id, created_at)
     values ('s', 'a', 'bench', 'b', 'blank', 'active', 'p', $1)`,
    [at],
  );
  await db.query(
    `insert into deployment (id, site_id, number, kind, status, ticket, site_url, manifest_sha256, created_by_id, created_at, live_at)
     values ('d', 's', 1, 'site', 'live', 1, 'http://${host}', $1, 'a', $2, $2)`,
    [sha256, at],
  );
  await db.query(`update site set live_deployment_id = 'd'`);
  await db.end();
}

async function startEdge(dir: string, databaseUrl: string, children: ChildProcess[]): Promise<Server> {
  const child = fork(join(import.meta.dirname, '../edge/server.ts'), {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: databaseUrl,
      FRONTAGE_DATA: dir,
      FRONTAGE_EDGE_PORT: '0',
      FRONTAGE_SECRET: 'x'.repeat(32),
      FRONTAGE_LOG_LEVEL: 'error',
    },
  });
  children.push(child);
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  return { name: contestants.edge, url, host, pid: child.pid as number };
}

async function startNginx(dir: string, www: string, children: ChildProcess[]): Promise<Server> {
  const port = await freePort();
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${dir}/nginx;`);
  await writeFile(
    join(dir, 'nginx.conf'),
    `daemon off; user root; worker_processes ${availableParallelism()}; pid ${dir}/nginx.pid; error_log ${dir}/nginx.log;
    events { worker_connections 1024; }
    http {
      ${places.join(' ')}
      types { text/html html; } access_log off; sendfile on; tcp_nopush on; keepalive_requests 10000000;
      open_file_cache max=1000;
      server { listen 127.0.0.1:${port} reuseport; root ${www}; add_header cache-control "public, max-age=0, must-revalidate"; }
    }`,
  );
  return startPeer(contestants.nginx, ['nginx', '-c', join(dir, 'nginx.conf')], port, dir, children);
}

async function startCaddy(dir: string, www: string, children: ChildProcess[]): Promise<Server> {
  const port = await freePort();
  await writeFile(
    join(dir, 'Caddyfile'),
    `{
      admin off
      auto_https off
    }
    http://:${port} {
      root * ${www}
      header cache-control "public, max-age=0, must-revalidate"
      file_server
    }`,
  );
  const config = ['--config', join(dir, 'Caddyfile'), '--adapter', 'caddyfile'];
  return startPeer(contestants.caddy, ['caddy', 'run', ...config], port, dir, children);
}

async function startPeer(name: string, command: string[], port: number, dir: string, children: ChildProcess[]) {
  const [program = '', ...options] = command;
  const env = { PATH: process.env.PATH, HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir };
  const child = spawn(program, options, { env, stdio: 'ignore' });
  children.push(child);
  await once(child, 'spawn');
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; !(await answers(url)); tries++) {
    if (tries > 100 || child.exitCode !== null) throw new Error(`${name} did not start`);
    await sleep(50);
  }
  return { name, url, host, pid: child.pid as number };
}

async function answers(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/small.html`).catch(() => undefined);
  await answer?.body?.cancel();
  return answer?.ok ?? false;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
