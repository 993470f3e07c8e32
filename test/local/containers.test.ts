/** What `docker-compose.yml` and `Dockerfile` promise an installation. */
import { execFile, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, glob, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { BlockList } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { describe, expect, inject, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '#runtime/config.ts';
import { pathOf } from '#test/stack/requirements.ts';
import { until } from '#test/stack/until.ts';
import { freePort } from '#tools/local/ports.ts';
import { buildImage, removeImage } from './image.ts';

const root = join(import.meta.dirname, '../..');
const compose = parse(await readFile(join(root, 'docker-compose.yml'), 'utf8'), { merge: true });
const services = Object.entries(compose.services as Record<string, Service>);
const ours = services.filter(([, { image }]) => image.includes('frontage'));

type Service = {
  depends_on?: string[] | Record<string, { required?: boolean }>;
  image: string;
  profiles: string[];
  command: string[] | string;
  deploy?: { replicas: number };
  volumes?: string[];
  healthcheck?: { test: string[] };
  ports?: string[];
  read_only?: boolean;
  privileged?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
};

test('our processes run twice, builds and browser once, unprivileged on a read-only root', () => {
  const replicas = Object.fromEntries(ours.map(([name, service]) => [name, service.deploy?.replicas ?? 1]));
  expect(replicas).toEqual({ migrate: 1, api: 2, edge: 2, worker: 2, builds: 1, browser: 1 });
  expect(new Set(ours.filter(([name]) => name !== 'browser').map(([, { image }]) => image)).size).toBe(1);
  for (const [, service] of ours) {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    expect(service.security_opt).toContain('no-new-privileges:true');
    expect(service.privileged).toBeUndefined();
    expect(service.profiles).toEqual(['core', 'full']);
  }
});

test('each of our long-running processes has a health check', () => {
  for (const [name, { healthcheck }] of ours.filter(([one]) => one !== 'migrate'))
    expect(healthcheck?.test.slice(0, 3), name).toEqual(['CMD', 'node', 'operator/ready.mjs']);
});

test('only the builds worker gets its engine’s socket, and none gets the host’s', () => {
  for (const [name, { volumes = [] }] of services) {
    expect(volumes.filter((volume) => /^\/|docker\.sock/.test(volume))).toEqual([]);
    expect(volumes.some((volume) => volume.startsWith('engine-socket:'))).toBe(['builds', 'engine'].includes(name));
  }
  expect(compose.services.engine.network_mode).toBe('none');
});

test('edges behind the load balancer ignore headers about the visitor’s location', () => {
  const { edge } = compose.services;
  expect(edge.environment.FRONTAGE_TRUSTED_PROXIES).toBe('');
});

test('only the load balancer is trusted for client addresses, not a network or gateway', () => {
  const { api, edge, front } = compose.services;
  const address = front.networks.inside.ipv4_address;
  const [{ subnet, ip_range: shared, gateway }] = compose.networks.inside.ipam.config;
  expect(edge.environment.FRONTAGE_PROXY_PROTOCOL_FROM).toBe(`\${FRONTAGE_PROXY_PROTOCOL_FROM:-${address}}`);
  expect(api.environment.FRONTAGE_TRUSTED_PROXIES).toBe(`\${FRONTAGE_TRUSTED_PROXIES:-${address}}`);
  const within = (network: string) => {
    const list = new BlockList();
    const [net = '', bits] = network.split('/');
    list.addSubnet(net, Number(bits));
    return list.check(address);
  };
  // Of the network, and never given to another container while the front is down.
  expect([within(subnet), within(shared), gateway === address]).toEqual([true, false, false]);
});

describe('secrets', () => {
  test('are created once, each different, and existing ones are kept', async ({ onTestFinished }) => {
    const dir = await mkdtemp(join(tmpdir(), 'frontage-secrets-'));
    onTestFinished(() => rm(dir, { recursive: true, force: true }));
    await cp(join(root, 'operator'), join(dir, 'operator'), { recursive: true });
    const read = async () => {
      await promisify(execFile)('sh', [join(dir, 'operator/make-secrets.sh')]);
      const names = await readdir(join(dir, 'secrets'));
      return Object.fromEntries(
        await Promise.all(names.map(async (name) => [name, await readFile(join(dir, 'secrets', name), 'utf8')])),
      );
    };
    const made = await read();
    expect(await readFile(join(dir, '.env'), 'utf8')).toMatch(/^COMPOSE_PROFILES=full$/m);
    expect((await stat(join(dir, 'secrets'))).mode & 0o777).toBe(0o700);
    expect(Object.keys(made).sort()).toEqual(Object.keys(compose.secrets).sort());
    expect(new Set(Object.values(made)).size).toBe(Object.keys(made).length);
    await writeFile(join(dir, '.env'), 'COMPOSE_PROFILES=core\n');
    expect(await read()).toEqual(made);
    expect(await readFile(join(dir, '.env'), 'utf8')).toBe('COMPOSE_PROFILES=core\n');
    const { encryptionKeys, databaseUrl, buildsDatabaseUrl } = readConfig({
      FRONTAGE_SECRET: made.frontage_secret,
      FRONTAGE_SEALING_KEYS: made.sealing_keys,
      DATABASE_URL: made.database_url,
      FRONTAGE_BUILDS_DATABASE_URL: made.builds_database_url,
    });
    expect(encryptionKeys).toBeDefined();
    expect(databaseUrl).toContain(made.postgres_password);
    expect(buildsDatabaseUrl).toMatch(/^postgres:\/\/frontage_builds:[0-9a-f]{64}@postgres:5432\/frontage$/);
    expect(buildsDatabaseUrl).not.toContain(made.postgres_password);
  });
});

test('the image has everything that each process loads', async ({ onTestFinished }) => {
  const dir = await mkdtemp(join(tmpdir(), 'frontage-image-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const kept = (await readFile(join(root, '.dockerignore'), 'utf8')).split('\n').filter((line) => line.startsWith('!'));
  for (const name of await readdir(root)) {
    if (kept.includes(`!${name}`) || (kept.includes('!*.ts') && /^[^/]+(?<!vitest\.config)\.ts$/.test(name)))
      await cp(join(root, name), join(dir, name), { recursive: true });
  }
  const parts = kept.map((line) => line.slice(1)).filter((pattern) => pattern.includes('/'));
  for await (const path of glob(parts, { cwd: root })) await cp(join(root, path), join(dir, path));
  await symlink(join(root, 'node_modules'), join(dir, 'node_modules'));
  const entries = ours.map(([, { command }]) => [...command].filter((word) => word.endsWith('.ts'))[0] as string);
  // Without a configuration each ends with the list of what is missing: so far it has loaded everything.
  for (const entry of new Set(entries)) {
    const child = fork(join(dir, entry), ['store', 'audit'], {
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      execArgv: [],
    });
    const [said] = await Promise.all([text(child.stderr as NodeJS.ReadableStream), once(child, 'exit')]);
    expect(said).toContain('FRONTAGE_SECRET');
    expect(said).not.toContain('ERR_MODULE_NOT_FOUND');
  }
}, 60_000);

test('docker compose accepts our docker-compose.yml', { tags: 'compose-spec' }, async ({ onTestFinished }) => {
  // The loader that compose itself is made of. Its command gives variables no values.
  const loader = await pathOf('compose-spec');
  const folder = await mkdtemp(join(tmpdir(), 'frontage-compose-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const written = await readFile(join(root, 'docker-compose.yml'), 'utf8');
  const file = join(folder, 'docker-compose.yml');
  await writeFile(file, written.replace(/\$\{COMPOSE_PROFILES:\?[^}]+\}/, 'full'));
  const { stdout } = await promisify(execFile)(loader, [file], { cwd: folder });
  expect(Object.keys(parse(stdout).services).sort()).toEqual(Object.keys(compose.services).sort());
});

test('a profile’s services depend on nothing in another profile', () => {
  for (const profile of ['core', 'full'])
    for (const [name, { profiles, depends_on = {} }] of services.filter(([, one]) => one.profiles.includes(profile))) {
      const needed = Array.isArray(depends_on)
        ? depends_on
        : Object.keys(depends_on).filter((one) => depends_on[one]?.required !== false);
      expect(profiles.length).toBeGreaterThan(0);
      for (const one of needed) expect(compose.services[one].profiles, `${name} needs ${one}`).toContain(profile);
    }
});

// Minutes and a gigabyte: not in CI. See docs/campaigns.md.
if (process.env.FRONTAGE_TEST_IMAGE)
  test('the image runs without root on a read-only root, and stops in order', async ({ onTestFinished }) => {
    const name = `frontage-test-${randomBytes(6).toString('hex')}`;
    onTestFinished(() => removeImage(name));
    await buildImage(name);
    const { templateUrl } = inject('services');
    const safe = [
      '--read-only',
      '--cap-drop',
      'ALL',
      '--security-opt',
      'no-new-privileges',
      '--tmpfs',
      '/tmp',
      '--network',
      'host',
    ];
    const port = await freePort();
    const env = {
      FRONTAGE_SECRET: 'x'.repeat(32),
      DATABASE_URL: templateUrl,
      TEMPORAL_ADDRESS: inject('services').temporalAddress,
      FRONTAGE_API_PORT: String(port),
    };
    const given = Object.entries(env).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
    const docker = async (...args: string[]) => (await promisify(execFile)('docker', args)).stdout.trim();
    const id = await docker('run', '--detach', '--init', ...safe, ...given, name);
    onTestFinished(async () => void (await docker('rm', '--force', id)));
    await until(
      async () =>
        fetch(`http://127.0.0.1:${port}/healthz`).then(
          ({ status }) => status,
          () => docker('logs', id),
        ),
      (status) => status === 200,
      60_000,
    );
    expect(await docker('exec', id, 'node', '-p', 'process.getuid()')).toBe('10000');
    await expect(docker('exec', id, 'sh', '-c', 'cat /dev/null > /frontage/written')).rejects.toThrow('Read-only');
    expect(await docker('exec', id, 'git', '--version')).toContain('git version');
    await docker('exec', id, 'node', 'operator/ready.mjs', `http://127.0.0.1:${port}/healthz`);
    // The workflows as one file, as a worker makes them at its first start.
    const bundle =
      "const { workflowBundle } = await import('/frontage/worker/bundle.ts'); console.log((await workflowBundle('/data', console)).code.length)";
    expect(await docker('exec', id, 'node', '--input-type=module', '-e', bundle)).toMatch(/^\d{6,}$/m);
    await docker('stop', id);
    expect(await docker('inspect', '--format', '{{.State.ExitCode}}', id)).toBe('0');
  }, 900_000);
