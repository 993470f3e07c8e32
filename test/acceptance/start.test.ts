import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { visit } from '#test/stack/stack.ts';
import { callApi } from '#tools/local/client.ts';
import { endProcess, isRunning, type ProcessId } from '#tools/local/processes.ts';
import { findPebble } from '#tools/local/services/pebble.ts';
import { findPowerDns } from '#tools/local/services/powerdns.ts';

const root = dirname(dirname(import.meta.dirname));
const dataDir = join(inject('runFolder'), 'start');
const started: ChildProcess[] = [];
/** API, worker, edge, and those that stand in for mail, payments and the rest of the DNS: they end when their parent does. */
const ours = 6;
const installed = [findPowerDns(), findPebble()].filter((found) => 'command' in found);
const others = ['postgres', 'temporal', ...installed];
let first: ReturnType<typeof readDevFile>;

// One long story, as starts take seconds: each test goes on with the service that the one before it left.
beforeAll(async () => {
  mkdirSync(dataDir, { recursive: true });
  symlinkSync(join(inject('runFolder'), 'sandbox'), join(dataDir, 'sandbox'));
  await start();
  first = readDevFile();
});

afterAll(async () => {
  await Promise.all(started.filter(isUp).map(stop));
  await Promise.all(recorded().map((one) => endProcess(one, 'SIGKILL', 0)));
});

function isUp({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

/** The command that runs now, started where the test before has failed to leave one. */
async function running(): Promise<ChildProcess> {
  return started.findLast(isUp) ?? (await start()).process;
}

/** `npm start` without npm, until it says that it is ready. */
async function start({ under = [] as string[], meanwhile = (_said: string) => {}, ...settings } = {}) {
  const since = performance.now();
  const env = { ...process.env, ...settings, FRONTAGE_DATA: dataDir };
  const [command = '', ...args] = [...under, process.execPath, 'tools/scripts/bootstrap.mjs', 'tools/scripts/start.ts'];
  const child = spawn(command, args, { cwd: root, env });
  started.push(child);
  let said = '';
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text) => {
        said += text;
        meanwhile(said);
        if (said.includes('✓ Ready')) resolve();
      });
    }
    child.once('exit', () => reject(new Error(`npm start ended: ${said}`)));
  });
  return { process: child, said, seconds: (performance.now() - since) / 1000 };
}

/**
 * Hides the sandboxes from the next start: no engine, an image that the build user cannot read and that root may not mount
 * elsewhere, or, as an ordinary user, no user namespaces.
 */
function hideSandboxes() {
  const isRoot = process.getuid?.() === 0;
  const image = join(inject('runFolder'), 'sandbox');
  if (isRoot) chmodSync(image, 0o700);
  onTestFinished(() => chmodSync(image, 0o755));
  const forbid = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"';
  const under = isRoot
    ? ['setpriv', '--bounding-set=-sys_admin']
    : ['unshare', '--user', '--map-current-user', '--keep-caps', 'sh', '-c', forbid, 'sh'];
  return { under, DOCKER_HOST: 'unix:///nowhere' };
}

async function stop(process: ChildProcess): Promise<void> {
  const ended = once(process, 'exit');
  process.kill('SIGTERM');
  await ended;
}

function readDevFile() {
  return JSON.parse(readFileSync(join(dataDir, 'dev.json'), 'utf8'));
}

/** What runs for this folder, by the folder's own account. */
function recorded(ending = '.json'): ProcessId[] {
  const run = join(dataDir, 'run');
  const names = readdirSync(run).filter((name) => name.endsWith(ending));
  return names.map((name) => JSON.parse(readFileSync(join(run, name), 'utf8')));
}

/** The process that holds the folder: not the one that npm starts, but its child. */
function supervisor(): number {
  return Number(readFileSync(join(dataDir, 'holder'), 'utf8').replace('process ', ''));
}

test('npm start ends with a demo site at its address and a working token', async () => {
  const { base_url, edge_url, base_domain, access_token, site_id } = first;
  const { body: site } = await callApi(base_url, `/v1/sites/${site_id}`, { token: access_token });
  expect(site.address).toBe(`http://workshop.${base_domain}:${new URL(edge_url).port}`);
  const page = await visit({ edgeUrl: edge_url, baseDomain: base_domain }, 'workshop', '/');
  expect(page.status).toBe(200);
  expect(page.text).toContain('Good wood, cut to fit.');
  const live = await callApi(base_url, `/v1/deployments/${site.live_deployment_id}`, { token: access_token });
  expect(live.body.warnings.items).toEqual([]);
});

test('a stop leaves nothing running', async () => {
  const processes = recorded();
  expect(processes.filter(isRunning)).toHaveLength(ours + others.length);
  await stop(await running());
  expect(processes.filter(isRunning)).toEqual([]);
  expect(recorded()).toEqual([]);
});

test('a second start is ready within 20 s with unchanged addresses, token and site', async () => {
  const { seconds } = await start();
  console.log(`a second start took ${seconds.toFixed(1)} s`);
  expect(seconds).toBeLessThan(20);
  expect(readDevFile()).toEqual(first);
});

test('a process that dies during a start is restarted', async () => {
  await stop(await running());
  const mailbox = (): ProcessId | undefined => recorded('mail.json')[0];
  let killed: ProcessId | undefined;
  const kill = (said: string) => {
    if (killed || !said.includes('✓ The mailbox')) return;
    killed = mailbox();
    if (killed) process.kill(killed.pid, 'SIGKILL');
  };
  await start({ meanwhile: kill });
  expect(killed).toBeDefined();
  await expect.poll(() => [mailbox()].some((one) => one && one.pid !== killed?.pid && isRunning(one))).toBe(true);
});

test.runIf(process.platform === 'linux')('API, worker and edge together take less than 750 MB', async () => {
  await running();
  const pid = (name: string) => JSON.parse(readFileSync(join(dataDir, 'run', `${name}.json`), 'utf8')).pid;
  const edge = pid('edge');
  const forked = readFileSync(`/proc/${edge}/task/${edge}/children`, 'utf8').split(' ').filter(Boolean);
  const sizes = [pid('api'), pid('worker'), edge, ...forked].map((id) => {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${id}/status`, 'utf8')) ?? [];
    return Number(kilobytes) / 1000;
  });
  const total = sizes.reduce((sum, size) => sum + size);
  console.log(`API, worker and edge take ${Math.round(total)} MB`);
  expect(total).toBeLessThan(750);
});

test('after a SIGKILL our processes stop, and the next start stops the leftover databases', async () => {
  const command = await running();
  const left = recorded();
  process.kill(supervisor(), 'SIGKILL');
  await once(command, 'exit');
  await expect.poll(() => left.filter(isRunning).length, { timeout: 20_000 }).toBe(others.length);
  await start();
  expect(left.filter(isRunning)).toEqual([]);
});

test('after npm’s command is killed, the other processes stop in order', async () => {
  const command = await running();
  const left = recorded();
  command.kill('SIGKILL');
  await expect.poll(() => left.filter(isRunning).length, { timeout: 20_000 }).toBe(0);
});

test('where no sandbox works, two lines say so and sites are built', async () => {
  await Promise.all(started.filter(isUp).map(stop));
  const { said } = await start(hideSandboxes());
  expect(said.match(/^! .*/gm)).toEqual([
    expect.stringMatching(/^! Site code runs with the rights of your user .*: no sandbox works here\. /),
    expect.stringMatching(/^! .* Until then, sign-up is closed to other people\.$/),
  ]);
  const { base_url, edge_url, base_domain, access_token: token, site_id } = readDevFile();
  expect((await callApi(base_url, '/v1/account', { token })).body.sandboxes).toEqual(['unprotected']);
  expect(readFileSync(join(dataDir, 'env'), 'utf8')).toContain(`FRONTAGE_SIGNUP='closed'`);
  const publish = { token, body: { scope: 'site' }, headers: { 'cache-control': 'no-cache' } };
  const { body: built } = await callApi(base_url, `/v1/sites/${site_id}/publish`, publish);
  const status = async () => (await callApi(base_url, `/v1/deployments/${built.id}`, { token })).body.status;
  await expect.poll(status, { timeout: 90_000 }).toBe('live');
  expect((await visit({ edgeUrl: edge_url, baseDomain: base_domain }, 'workshop', '/')).status).toBe(200);
});

test('secret files are readable by their owner alone', async () => {
  for (const name of ['dev.json', 'env', 'owner.json', 'secret']) {
    expect(statSync(join(dataDir, name)).mode & 0o777).toBe(0o600);
  }
});
