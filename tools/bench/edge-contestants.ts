/** The edge, nginx and Caddy, each serving the same files, over plain HTTP or over TLS with the same certificate. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { request as requestPlain } from 'node:http';
import { request as requestOverTls } from 'node:https';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Certificate, createCertificate, saveCertificate, secret } from '#tools/bench/tls/tls-certificate.ts';
import { freePort } from '#tools/local/ports.ts';
import { domain, startSites } from './edge-sites.ts';

export const contestants = { edge: 'edge', nginx: 'nginx', caddy: 'Caddy' } as const;

export type Server = { name: string; url: string; host: string; pid: number };

const host = `bench.${domain}`;

/** Where a contestant serves which files, with how many processes (for Caddy, threads). */
type Place = { dir: string; www: string; workers: number; certificate: Certificate | undefined };

/** Starts all three with files of these sizes and this many processes each. */
export async function startContestants(
  dir: string,
  sizes: Record<string, number>,
  workers: number,
  { tls = false } = {},
) {
  const www = join(dir, 'www');
  await mkdir(www);
  const files = Object.entries(sizes).map(([path, size]) => ({
    path,
    content: Buffer.from(randomBytes(size).toString('base64').slice(0, size)),
  }));
  for (const { path, content } of files) await writeFile(join(www, path), content);
  const sites = await startSites(dir);
  const children: ChildProcess[] = [];
  const stop = async () => {
    await Promise.all(children.map(end));
    await sites.stop();
  };
  try {
    await sites.publish('bench', await sites.keep(files));
    const certificate = tls ? await createCertificate(dir, `*.${domain}`) : undefined;
    if (certificate) await saveCertificate(sites, certificate);
    const place = { dir, www, workers, certificate };
    const servers = [
      await (tls ? startTlsEdge : startEdge)(dir, sites.databaseUrl, workers, children),
      await startNginx(place, children),
      await startCaddy(place, children),
    ];
    return { servers, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts an edge with this many processes for these sites. */
export async function startEdge(
  dir: string,
  databaseUrl: string,
  workers: number,
  children: ChildProcess[],
  more: Record<string, string> = {},
): Promise<Server> {
  const child = fork(join(import.meta.dirname, '../../edge/server.ts'), {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: databaseUrl,
      FRONTAGE_DATA: dir,
      FRONTAGE_EDGE_PORT: '0',
      FRONTAGE_EDGE_PROCESSES: String(workers),
      FRONTAGE_SECRET: secret,
      FRONTAGE_LOG_LEVEL: 'error',
      ...more,
    },
  });
  children.push(child);
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  return { name: contestants.edge, url, host, pid: child.pid as number };
}

async function startTlsEdge(dir: string, databaseUrl: string, workers: number, children: ChildProcess[]) {
  const port = await freePort();
  const url = urlOf(port, true);
  const settings = {
    FRONTAGE_EDGE_TLS_PORT: String(port),
    FRONTAGE_PUBLIC_TLS_PORT: String(port),
    FRONTAGE_EDGE_URL: url,
  };
  return { ...(await startEdge(dir, databaseUrl, workers, children, settings)), url };
}

/** Over TLS with the name, for SNI. The clients connect to 127.0.0.1 (load.ts). */
function urlOf(port: number, isOverTls: boolean): string {
  return isOverTls ? `https://${host}:${port}` : `http://127.0.0.1:${port}`;
}

async function startNginx(place: Place, children: ChildProcess[]): Promise<Server> {
  const { dir, www, workers, certificate } = place;
  const port = await freePort();
  const tls = certificate
    ? `ssl_certificate ${certificate.chainFile}; ssl_certificate_key ${certificate.keyFile}; ssl_protocols TLSv1.2 TLSv1.3;`
    : '';
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${dir}/nginx;`);
  await writeFile(
    join(dir, 'nginx.conf'),
    `daemon off; user root; worker_processes ${workers}; pid ${dir}/nginx.pid; error_log ${dir}/nginx.log;
    events { worker_connections 1024; }
    http {
      ${places.join(' ')}
      types { text/html html; } access_log off; sendfile on; tcp_nopush on; keepalive_requests 10000000;
      open_file_cache max=1000;
      server { listen 127.0.0.1:${port} reuseport${certificate ? ' ssl http2' : ''}; ${tls} root ${www}; add_header cache-control "public, max-age=0, must-revalidate"; }
    }`,
  );
  return startPeer(contestants.nginx, ['nginx', '-c', join(dir, 'nginx.conf')], port, place, children);
}

async function startCaddy(place: Place, children: ChildProcess[]): Promise<Server> {
  const { dir, www, workers, certificate } = place;
  const port = await freePort();
  await writeFile(
    join(dir, 'Caddyfile'),
    `{
      admin off
      auto_https off
    }
    ${certificate ? `https://*.${domain}` : 'http://'}:${port} {
      ${certificate ? `tls ${certificate.chainFile} ${certificate.keyFile}` : ''}
      root * ${www}
      header cache-control "public, max-age=0, must-revalidate"
      file_server
    }`,
  );
  const config = ['--config', join(dir, 'Caddyfile'), '--adapter', 'caddyfile'];
  return startPeer(contestants.caddy, ['caddy', 'run', ...config], port, place, children, {
    GOMAXPROCS: String(workers),
  });
}

async function startPeer(
  name: string,
  command: string[],
  port: number,
  { dir, certificate }: Place,
  children: ChildProcess[],
  more: Record<string, string> = {},
) {
  const [program = '', ...options] = command;
  const env = { PATH: process.env.PATH, HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir, ...more };
  const child = spawn(program, options, { env, stdio: 'ignore' });
  children.push(child);
  await once(child, 'spawn');
  const url = urlOf(port, certificate !== undefined);
  for (let tries = 0; !(await answers(url)); tries++) {
    if (tries > 100 || child.exitCode !== null) throw new Error(`${name} did not start`);
    await sleep(50);
  }
  return { name, url, host, pid: child.pid as number };
}

function answers(url: string): Promise<boolean> {
  const { protocol, port } = new URL(url);
  const request = protocol === 'https:' ? requestOverTls : requestPlain;
  const options = { host: '127.0.0.1', port, path: '/small.html', headers: { host }, servername: host, agent: false };
  return new Promise((resolve) => {
    request({ ...options, rejectUnauthorized: false }, (answer) => resolve(answer.resume().statusCode === 200))
      .once('error', () => resolve(false))
      .end();
  });
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
