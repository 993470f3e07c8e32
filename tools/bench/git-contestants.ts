/**
 * Git over HTTP by our API, and by `git http-backend` under nginx (fcgiwrap) with the same git settings, each with an
 * empty repository.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openAccount } from '#api/accounts/rules.ts';
import { issueToken } from '#api/tokens/rules.ts';
import { migrate } from '#db/migrate.ts';
import { openOrm } from '#db/orm.ts';
import { gitEnvironment, runGit, usualLimits, withinLimits } from '#providers/repositories/git.ts';
import { systemClock } from '#runtime/clock.ts';
import { freePort } from '#tools/local/ports.ts';
import { startPostgres } from '#tools/local/services/postgres.ts';
import { cpuSecondsOfAll } from './measure.ts';

export type GitServer = {
  name: string;
  address: string;
  /** The same repository, with measurement of CPU time per request; use `address` to measure wall time. */
  countedAddress: string;
  /** CPU seconds used so far by the server and its child processes. */
  cpuSeconds(): Promise<number>;
};

export const ours = 'Frontage';
export const backend = 'http-backend';

/** Starts both servers in the folder. */
export async function startGitServers(dir: string): Promise<{ servers: GitServer[]; stop(): Promise<void> }> {
  const postgres = await startPostgres({ dir: join(dir, 'postgres'), durable: false });
  const children: ChildProcess[] = [];
  const stop = async () => {
    await Promise.all(children.map(end));
    await postgres.stop();
  };
  try {
    await migrate(postgres.url);
    return { servers: [await startOurs(dir, postgres.url, children), await startBackend(dir, children)], stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startOurs(dir: string, databaseUrl: string, children: ChildProcess[]): Promise<GitServer> {
  const orm = openOrm(databaseUrl);
  const account = await openAccount(orm.em.fork(), systemClock, { email: 'bench@example.test', name: 'Bench' });
  const { secret } = await issueToken(orm.em.fork(), systemClock, account.id, { name: 'bench' });
  await orm.close();
  const child = fork(join(import.meta.dirname, '../../api/server.ts'), {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: databaseUrl,
      FRONTAGE_DATA: dir,
      FRONTAGE_API_PORT: '0',
      FRONTAGE_SECRET: 'x'.repeat(32),
      FRONTAGE_LOG_LEVEL: 'error',
      FRONTAGE_RATE_SCALE: '1000',
    },
  });
  children.push(child);
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  const call = async (path: string, body: unknown): Promise<Record<string, string>> => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return (await response.json()) as Record<string, string>;
  };
  const site = await call('/v1/sites', { name: 'bench', title: 'Bench', template: 'blank' });
  const { username, password } = await call(`/v1/sites/${site.id}/git-credentials`, {
    repository: 'source',
    access: 'write',
  });
  const address = `${url.replace('://', `://${username}:${password}@`)}/git/${site.id}.git`;
  return { name: ours, address, countedAddress: address, cpuSeconds: () => cpuSecondsOfAll([child.pid as number]) };
}

async function startBackend(dir: string, children: ChildProcess[]): Promise<GitServer> {
  const root = join(dir, 'backend');
  const repository = join(root, 'bench.git');
  await mkdir(repository, { recursive: true });
  await runGit({ dir: repository }, ['init', '--quiet', '--bare', '--initial-branch=main', repository]);
  const socket = join(root, 'fcgi.sock');
  // With a process group of its own: its children do not end with it.
  const wrap = spawn('fcgiwrap', ['-c', '2', '-s', `unix:${socket}`], { stdio: 'ignore', detached: true });
  children.push(wrap);
  const timesFile = join(root, 'times');
  const script = join(root, 'backend.sh');
  const [, [, limits = '']] = withinLimits([], usualLimits);
  const limit = limits.slice(0, limits.lastIndexOf(' && '));
  await writeFile(
    script,
    `#!/bin/sh
${limit}
exec /usr/lib/git-core/git-http-backend
`,
    { mode: 0o755 },
  );
  // The `times` of bash has milliseconds, but bash starts more slowly.
  const counted = `#!/bin/bash
${limit}
/usr/lib/git-core/git-http-backend
times >> ${timesFile}
`;
  await writeFile(`${script}.counted`, counted, { mode: 0o755 });
  const port = await freePort();
  const settings = gitEnvironment({ 'http.receivepack': 'true', 'core.hooksPath': '/dev/null' });
  const params = Object.entries(settings).map(([name, value]) => `fastcgi_param ${name} "${value}";`);
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${root}/nginx;`);
  const location = (path: string, program: string) => `location ~ ^${path}(bench\\.git/.*)$ {
          fastcgi_pass unix:${socket};
          fastcgi_param SCRIPT_FILENAME ${program};
          fastcgi_param GIT_PROJECT_ROOT ${root}; fastcgi_param GIT_HTTP_EXPORT_ALL 1; fastcgi_param PATH_INFO /$1;
          fastcgi_param QUERY_STRING $query_string; fastcgi_param REQUEST_METHOD $request_method;
          fastcgi_param CONTENT_TYPE $content_type; fastcgi_param CONTENT_LENGTH $content_length;
          fastcgi_param GIT_PROTOCOL $http_git_protocol; fastcgi_param HTTP_CONTENT_ENCODING $http_content_encoding;
          ${params.join('\n          ')}
        }`;
  // As root, nginx would switch to another user, who cannot access the socket.
  const user = process.getuid?.() === 0 ? 'user root; ' : '';
  const conf = `${user}daemon off; pid ${root}/nginx.pid; error_log ${root}/error.log; worker_processes 2; events {}
    http { access_log off; ${places.join(' ')} client_max_body_size 0;
      server { listen 127.0.0.1:${port};
        ${location('/', script)}
        ${location('/counted/', `${script}.counted`)}
      } }`;
  await writeFile(join(root, 'nginx.conf'), conf);
  const nginx = spawn('nginx', ['-c', join(root, 'nginx.conf'), '-e', join(root, 'error.log')], { stdio: 'ignore' });
  children.push(nginx);
  const address = `http://127.0.0.1:${port}/bench.git`;
  for (let tries = 0; !(await answers(`${address}/info/refs?service=git-upload-pack`)); tries++) {
    if (tries > 100) throw new Error('http-backend did not start: it needs nginx, fcgiwrap and git');
    await sleep(50);
  }
  return {
    name: backend,
    address,
    countedAddress: address.replace('/bench.git', '/counted/bench.git'),
    async cpuSeconds() {
      // fcgiwrap does not wait for its children, so the kernel does not add their CPU time to its own: the script
      // records it.
      const spoken = await readFile(timesFile, 'utf8').catch(() => '');
      const script = [...spoken.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
        (sum, [, m, s]) => sum + Number(m) * 60 + Number(s),
        0,
      );
      return script + (await cpuSecondsOfAll([nginx.pid as number, wrap.pid as number]));
    },
  };
}

async function answers(url: string): Promise<boolean> {
  const answer = await fetch(url).catch(() => undefined);
  await answer?.body?.cancel();
  return answer?.ok ?? false;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  if (child.spawnfile === 'fcgiwrap') process.kill(-(child.pid as number), 'SIGTERM');
  else child.kill('SIGTERM');
  await exited;
}
